import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, removeFolder } from './folders.ts';
import { finishByHand, savePath, writeCampaign, writeLimitTasks, writeNaiveTasks } from './inputs.ts';
import { bin, measureOnce, type Sample } from './measure.ts';
import { peerScript, type Stub, startStub } from './service.ts';
import type { BenchStep } from './steps.ts';
import type { StubConfig, StubStats } from './stub-jobs.ts';

/** `learned` is mediabatch once more, with the durations that its last run kept. */
export type Tool = 'limit' | 'naive' | 'mediabatch' | 'learned';

export interface Trial {
  name: string;
  title: string;
  /** As the manual's page of numbers names it, in 28 columns at most. */
  short: string;
  steps: BenchStep[];
  kind?: 'image' | 'video';
  width?: number;
  concurrency: number;
  stub?: Omit<StubConfig, 'durationsMs' | 'far'>;
  /** The service is reached over TLS, so long away in each direction, in ms. */
  oneWayMs?: number;
  tools: Tool[];
  repetitions: number;
  /** Measured is the run after the one that did everything. */
  nothingToDo?: boolean;
  /** Of the jobs alone; undefined where they take no time. */
  idealMs?: number;
}

/** One measured run; invalid ones are said and do not count. */
export type Run = { sample: Sample; stats: StubStats } | { invalid: string };

/** By tool, one for each repetition: those with the same index were made one after the other. */
export type Runs = Map<Tool, Run[]>;

/** A run that takes longer, in ms, is ended and does not count. */
const timeoutMs = 900_000;
const keptDurations = '.mediabatch/durations.json';

/** All tools in turn, the order moved on by one each time, each run with a fresh service and a fresh folder. */
export async function runTrial(trial: Trial, notify: (message: string) => void): Promise<Runs> {
  const runs: Runs = new Map(trial.tools.map((tool) => [tool, []]));
  const finished = new Map<Tool, Finished>();
  const kept: { durations?: string } = {};
  try {
    for (let repetition = 0; repetition < trial.repetitions; repetition += 1) {
      // What is learned from must have been: in the first round everything is in its place.
      const shift = repetition % trial.tools.length;
      for (const tool of [...trial.tools.slice(shift), ...trial.tools.slice(0, shift)]) {
        const run = await runOnce(tool, trial, { finished, kept });
        runs.get(tool)?.push(run);
        const said = 'invalid' in run ? `INVALID: ${run.invalid}` : `${(run.sample.wallMs / 1000).toFixed(2)} s`;
        notify(`${trial.name} ${tool} ${repetition + 1}/${trial.repetitions}: ${said}`);
      }
    }
  } finally {
    for (const { folder, stub } of finished.values()) {
      stub.stop();
      removeFolder(folder, trial.steps.length);
    }
  }
  return runs;
}

interface Finished {
  folder: string;
  args: string[];
  /** The same one for as long as the folder: a lock belongs to one service address. */
  stub: Stub;
}

interface OnceOptions {
  /** Where everything is done, by tool. */
  finished: Map<Tool, Finished>;
  kept: { durations?: string };
}

async function runOnce(tool: Tool, trial: Trial, options: OnceOptions): Promise<Run> {
  const { finished, kept } = options;
  if (tool === 'learned' && kept.durations === undefined) return { invalid: 'no durations were kept' };
  const known = finished.get(tool);
  const folder = known?.folder ?? makeFolder();
  const durationsMs = trial.steps.map(({ durationMs }) => durationMs);
  const stub = known?.stub ?? (await startStub({ ...trial.stub, durationsMs }, trial.oneWayMs));
  try {
    const args = known?.args ?? prepare(tool, trial, folder);
    // Each run has a purchase journal of its own: one that grows from run to run would be measured, too.
    const job = { args, cwd: folder, env: { ...stub.env, XDG_STATE_HOME: join(folder, 'state') } };
    if (tool === 'learned' && kept.durations !== undefined) {
      mkdirSync(join(folder, '.mediabatch'));
      writeFileSync(join(folder, keptDurations), kept.durations);
    }
    if (trial.nothingToDo && known === undefined) {
      finished.set(tool, { folder, args, stub });
      // Not what is measured: looked at often, so that it is soon over.
      const soon = [...args, '--poll-interval', '10'];
      if (tool === 'mediabatch') {
        await measureOnce({ ...job, args: soon, timeoutMs });
        // The first run after it plans in full.
        await measureOnce({ ...job, timeoutMs });
      } else finishByHand(folder, trial.steps);
    }
    const before = await stub.stats();
    const sample = await measureOnce({ ...job, timeoutMs });
    const stats = await stub.stats();
    const fault = findFault(folder, trial, { before, stats });
    if (tool === 'mediabatch' && existsSync(join(folder, keptDurations))) {
      kept.durations = readFileSync(join(folder, keptDurations), 'utf8');
    }
    return fault === undefined ? { sample, stats } : { invalid: fault };
  } catch (error) {
    return { invalid: error instanceof Error ? error.message.replaceAll(/\s+/g, ' ').slice(0, 300) : String(error) };
  } finally {
    if (!finished.has(tool)) {
      stub.stop();
      removeFolder(folder, trial.steps.length);
    }
  }
}

/** Writes the inputs where there are none; the command line. */
function prepare(tool: Tool, trial: Trial, folder: string): string[] {
  const { steps, concurrency, width, kind = 'image' } = trial;
  switch (tool) {
    case 'limit':
      return [peerScript('limit'), writeLimitTasks(folder, steps), String(concurrency)];
    case 'naive':
      return [peerScript('naive'), writeNaiveTasks(folder, steps, concurrency)];
    case 'mediabatch':
    case 'learned': {
      const shape = { kind, concurrency, ...(width !== undefined && { width }) };
      return [bin, 'apply', writeCampaign(folder, steps, shape), '--yes'];
    }
    default:
      return tool satisfies never;
  }
}

/** A run counts only when every output is there and every step was bought exactly once, or nothing where nothing was to do. */
function findFault(folder: string, trial: Trial, asked: { before: StubStats; stats: StubStats }): string | undefined {
  const { before, stats } = asked;
  if (trial.nothingToDo) {
    const requests = (of: StubStats) => of.creates + of.polls + of.listReads + of.downloads;
    return requests(stats) === requests(before) ? undefined : `${requests(stats) - requests(before)} requests`;
  }
  if (stats.creates !== trial.steps.length) return `${stats.creates} creates for ${trial.steps.length} steps`;
  const sizes = new Set<number>();
  for (const index of trial.steps.keys()) {
    const file = join(folder, savePath(index, trial.kind ?? 'image'));
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return `${savePath(index, trial.kind ?? 'image')} is missing`;
    sizes.add(size);
  }
  const wanted = trial.stub?.outputBytes ?? (trial.kind === 'video' ? 24 : 68);
  const other = [...sizes].find((size) => size !== wanted);
  return other === undefined ? undefined : `an output has ${other} bytes instead of ${wanted}`;
}
