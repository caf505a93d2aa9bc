import { basename } from 'node:path';
import type { Clock } from '../contract/clock.ts';
import { UnsafeFileError } from '../contract/errors.ts';
import type { RunClose, RunEvent, RunHeader, RunTime } from '../contract/event.ts';
import { readSmallFile } from '../disk/fs/plain-file.ts';
import { findCheckedOutCommit } from '../disk/git/git-command.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import { makeRunId, RunHistory, RunJournal } from '../disk/state/run-history.ts';
import { defined, isMap, messageOf } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { maxManifestBytes } from '../manifest/yaml/source.ts';
import { countSteps } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { foldRun } from '../report/history/run-story.ts';
import type { Remaining, RunTimes } from '../report/run/remaining-time.ts';
import { safeJson } from '../report/safe-text.ts';
import { historyLines } from './find-run.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { ownVersion } from './own-version.ts';
import type { CampaignPaths } from './paths.ts';
import type { RunResult } from './run.ts';

const mostCharacters = 48 * 1024 ** 2;

interface Watched {
  on(event: RunEvent): void;
  clock: Clock;
  times?: RunTimes | undefined;
  approved?: RunHeader['approved'] | undefined;
  engineRun?: string | undefined;
  run(on: (event: RunEvent) => void): Promise<RunResult>;
}

/**
 * Carries a run out and records its events in `.mediabatch/runs/ID.jsonl`. Nothing depends on this file: if it cannot
 * be written, one notice is shown, and the run continues.
 */
export async function recordRun(
  plan: Plan,
  campaign: OpenCampaign,
  { on, clock, times, approved, engineRun, run }: Watched,
): Promise<RunResult> {
  const startedAt = clock.now();
  // A screen would draw over a notice that is printed during the run.
  let isRunning = false;
  const lost = (error: unknown) => {
    const message = `the history of this run is not kept: ${messageOf(error)}`;
    if (isRunning) on({ at: new Date(clock.now()).toISOString(), event: 'noticed', message });
    else campaign.tell({ is: 'notice', text: message });
  };
  const journal = await openJournal(plan, campaign, { clock, lost, approved, engineRun });
  let shown: Remaining | undefined;
  let spentNow = 0;
  const record = (event: RunEvent) => {
    isRunning = event.event !== 'run-ended';
    on(event);
    journal?.add(safeJson(event));
    const remaining = times?.();
    if (remaining !== shown) {
      const line: RunTime = { mediabatch: 'run-time', version: 1, at: event.at, ...defined({ remaining }) };
      journal?.add(safeJson(line));
    }
    shown = remaining;
    if (event.event === 'credits-changed' || event.event === 'run-ended') spentNow = event.spentNow;
  };
  const close = (end: Pick<RunClose, 'how' | 'exit' | 'error' | 'outcomes' | 'unsaved'>) => {
    const at = new Date(clock.now()).toISOString();
    const dropped = journal?.dropped || undefined;
    const elapsedMs = clock.now() - startedAt;
    const line: RunClose = {
      mediabatch: 'run-close',
      version: 1,
      at,
      ...end,
      spentNow,
      elapsedMs,
      ...defined({ dropped }),
    };
    return journal?.close(safeJson(line));
  };
  try {
    const result = await run(record);
    if (result.end === undefined) await close({ how: 'left' });
    else {
      const { exit, outcomes, unsaved } = result.end;
      await close({ how: 'ended', exit, outcomes, ...defined({ unsaved }) });
    }
    return result;
  } catch (error) {
    isRunning = false;
    await close({ how: 'broken', error: messageOf(error) });
    throw error;
  }
}

async function openJournal(
  plan: Plan,
  campaign: OpenCampaign,
  { clock, lost, ...about }: Pick<Watched, 'clock' | 'approved' | 'engineRun'> & { lost(error: unknown): void },
): Promise<RunJournal | undefined> {
  const { paths } = campaign;
  try {
    await new RunHistory(paths.state, paths.runs).prune();
    const now = clock.now();
    const id = makeRunId(now, clock.random);
    const options = { name: `${id}.jsonl`, mostCharacters, onLost: lost };
    const journal = await RunJournal.create(paths.state, paths.runs, options);
    journal.add(safeJson(await headerOf(plan, campaign, { id, at: new Date(now).toISOString(), ...about })));
    return journal;
  } catch (error) {
    if (!(error instanceof UnsafeFileError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    lost(error);
    return undefined;
  }
}

async function headerOf(
  plan: Plan,
  { paths, sandbox }: OpenCampaign,
  { id, at, approved, engineRun }: Pick<RunHeader, 'id' | 'at'> & Pick<Watched, 'approved' | 'engineRun'>,
): Promise<RunHeader> {
  const manifest = readSmallFile(paths.manifest, maxManifestBytes);
  const commit = await findCheckedOutCommit(paths.folder);
  return {
    ...{ mediabatch: 'run', version: 1, id, at, tool: ownVersion(), campaign: plan.campaign },
    ...defined({ manifest: manifest && digestOf(manifest).sha256, commit }),
    ...defined({ approved: approved && { by: approved.by, at: approved.at } }),
    lock: basename(paths.lock),
    sandbox,
    ...defined({ engineRun }),
    steps: countSteps(plan),
    totals: plan.totals,
  };
}

const runsToRead = 3;

/**
 * Returns the jobs that the lock records as running although a run has seen them finish, with the newest error of the
 * step. The lock does not record this, because finding it out again is free. Empty if there is no history. Campaigns of
 * one folder share the histories; a run whose first line is damaged may belong to any of them.
 */
export async function findFinishedJobs(paths: CampaignPaths, lock: Lock): Promise<Map<string, string | undefined>> {
  const bought = [...lock.steps.values()].flatMap(({ purchases }) => purchases);
  const running = new Set(bought.flatMap(({ state, jobId }) => (state === 'running' ? (jobId ?? []) : [])));
  const finished = new Map<string, string | undefined>();
  if (running.size === 0) return finished;
  const history = new RunHistory(paths.state, paths.runs);
  let read = 0;
  for (const { id } of await history.list()) {
    if (read === runsToRead) break;
    const values = (await history.read(id)) ?? [];
    const header = values.filter((value) => isMap(value)).find(({ mediabatch }) => mediabatch === 'run');
    if (header !== undefined && header.lock !== basename(paths.lock)) continue;
    for (const { jobId, hasCompletedJob, error } of foldRun(historyLines(values)).stepsByAddress.values()) {
      const isFinished = jobId !== undefined && hasCompletedJob && running.has(jobId);
      if (isFinished) finished.set(jobId, finished.get(jobId) ?? error);
    }
    read += 1;
  }
  return finished;
}
