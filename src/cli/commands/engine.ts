import { readEnvironment, readLimits, requireAccess } from '../../campaign/environment.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { requireEngine } from '../../campaign/on-engine/engine-address.ts';
import {
  actOnRun,
  inspectEngine,
  migrateEngine,
  type RunAct,
  workOnEngine,
} from '../../campaign/on-engine/engine-run.ts';
import { ownVersion } from '../../campaign/own-version.ts';
import { systemClock } from '../../contract/clock.ts';
import type { EngineRun, WorkerEvent } from '../../contract/engine-state.ts';
import { exitCodes } from '../../contract/exit.ts';
import { jsonOf } from '../../report/document.ts';
import { clockText } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { troublesOf, troublesView, workerJsonLine, workerLine, workersView } from '../../report/tables/workers-text.ts';
import { fitHeap } from '../fit-heap.ts';
import { type Flags, open, type StateOptions, type Texts } from '../open.ts';
import { listenForInterruption } from '../signals.ts';
import { outJson, show, type Terminal } from '../terminal.ts';

type WorkerOptions = Texts<'engine' | 'store' | 'limit'> &
  Flags<'exitWhenIdle' | 'drain'> & { files: number; keep?: number; port?: number; host: string; log: 'text' | 'json' };

export async function worker(options: WorkerOptions, { err, style }: Terminal): Promise<number> {
  const { env } = process;
  const { store, files, port, host, keep, limit, exitWhenIdle = false } = options;
  const engine = requireEngine(options.engine, env);
  const environment = readEnvironment(env, process.cwd());
  const access = requireAccess(environment, { rehearses: false });
  const lineOf = options.log === 'json' ? workerJsonLine : workerLine;
  const drain = options.drain === true ? new AbortController() : undefined;
  const interruption = listenForInterruption(() => {}, { drain });
  const working = workOnEngine({
    ...{ engine, access, store, files, exitWhenIdle, keepMs: keep },
    port: port === undefined ? undefined : { port, host },
    limits: readLimits(limit, '--limit') ?? environment.limits,
    drain: drain?.signal,
    version: ownVersion(),
    signal: interruption.signal,
    log: (news: WorkerEvent) => err(lineOf(news, { style, now: systemClock.now() })),
    onSize: fitHeap,
  }).then(() => exitCodes.done);
  try {
    return await Promise.race([working, interruption.secondSignal.then(() => exitCodes.interrupted)]);
  } finally {
    interruption.stop();
  }
}

type WorkersOptions = Texts<'engine' | 'campaign'> & Flags<'json' | 'check'> & { state?: EngineRun['state'] };

export async function workers(options: WorkersOptions, terminal: Terminal): Promise<number> {
  const { campaign, state: wanted, check = false } = options;
  const state = await inspectEngine(requireEngine(options.engine, process.env), { campaign, state: wanted });
  const isServed = state.workers.some(({ isSilent }) => !isSilent);
  if (options.json) {
    outJson(terminal, jsonOf('workers', { runs: state.runs, accounts: state.accounts, workers: state.workers }));
  } else {
    show(terminal, check ? troublesView(state) : workersView(state));
    if (!check && state.runs.length === 0) terminal.err('no run is on record on this engine\n');
    if (!isServed) terminal.err('no worker is running\n');
  }
  return check && (!isServed || troublesOf(state).length > 0) ? exitCodes.unreachable : exitCodes.done;
}

const wordsOf: Readonly<
  Record<RunAct, Record<'done' | 'idle', string> & { follows?: string; next?: readonly [string, 'apply' | 'resume'] }>
> = {
  cancel: {
    done: 'cancelled',
    idle: 'had already ended',
    follows: 'this run creates no more jobs; its running jobs are paid and are still collected',
    next: ['to download its outputs', 'apply'],
  },
  pause: {
    done: 'paused',
    idle: 'has ended, or was cancelled',
    follows: 'this run creates no jobs while paused; its running jobs are paid and are still collected',
    next: ['to continue', 'resume'],
  },
  resume: { done: 'resumed', idle: 'is not paused' },
};

/** Cancels, pauses or resumes a run on an engine. Running jobs of a stopped run are still collected. */
export async function changeRun(
  act: RunAct,
  file: string,
  { options, terminal }: { options: StateOptions & Texts<'engine'>; terminal: Terminal },
): Promise<number> {
  const { style, err } = terminal;
  const engine = requireEngine(options.engine, process.env);
  const campaign = await open(file, options, terminal);
  const { name } = await requireGraph(campaign);
  const found = await actOnRun(engine, campaign, { name, act });
  if (found === undefined) {
    err(`no run of ${safeText(name)} is open on this engine\n`);
    return exitCodes.done;
  }
  const { run, isDone, shown } = found;
  const { done, idle, follows, next } = wordsOf[act];
  const at = clockText(run.submitted.getTime(), systemClock.now());
  const named = `the run of ${safeText(name)} that was submitted at ${at}`;
  err(isDone ? `${style.green(done)} ${named}\n` : `${named} ${idle}\n`);
  if (isDone && follows !== undefined) err(`${follows}\n`);
  if (next === undefined || !(isDone || act === 'cancel')) return exitCodes.done;
  // The address in MEDIABATCH_ENGINE contains the password, so it is not printed as an option.
  const words = options.engine === undefined ? [] : ['--engine', shown];
  err(`${next[0]}: ${terminal.paste({ call: next[1], words })}\n`);
  return exitCodes.done;
}

export async function migrate({ engine, grant }: Texts<'engine' | 'grant'>, { style, err }: Terminal): Promise<void> {
  const { before, now } = await migrateEngine(requireEngine(engine, process.env), grant);
  if (before === now) err(`the tables already have version ${now}: nothing was changed\n`);
  else if (before === 0) err(`${style.green('created')} the tables, version ${now}\n`);
  else err(`${style.green('migrated')} the tables from version ${before} to ${now}\n`);
  if (grant !== undefined) err(`${style.green('granted')} access to the tables to ${safeText(grant)}\n`);
}
