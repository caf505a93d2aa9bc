import { basename } from 'node:path';
import { systemClock } from '../contract/clock.ts';
import { UnsafeFileError } from '../contract/errors.ts';
import type { HistoryLine, RunClose, RunEvent, RunHeader, RunTime } from '../contract/event.ts';
import { CampaignError, type Holder } from '../contract/failure.ts';
import { readSmallFile } from '../disk/fs/plain-file.ts';
import { findCheckedOutCommit } from '../disk/git/git-command.ts';
import { readLiveHolder } from '../disk/lock/guard.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import { makeRunId, RunHistory, RunJournal } from '../disk/state/run-history.ts';
import type { Json } from '../ground/json.ts';
import { defined, isMap, messageOf } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { maxManifestBytes } from '../manifest/yaml/source.ts';
import { countSteps } from '../plan/actions.ts';
import { foldRun, type RunStory, summarizeRun } from '../report/history/run-story.ts';
import type { Remaining } from '../report/run/remaining-time.ts';
import { safeJson } from '../report/safe-text.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { ownVersion } from './own-version.ts';
import type { CampaignPaths } from './paths.ts';
import type { Observer, Running, RunResult } from './run.ts';
import { findViolations as findEventViolations } from './validate-event.generated.ts';
import { findViolations as findLineViolations } from './validate-run-line.generated.ts';

export async function listRuns({ state, runs, lock }: CampaignPaths): Promise<RunStory[]> {
  const history = new RunHistory(state, runs);
  const stories: RunStory[] = [];
  for (const { id } of await history.list()) {
    const story = summarizeRun(id, historyLines((await history.readEnds(id)) ?? []));
    // The campaigns of a folder share one run history. A run whose first line is damaged may belong to any of them.
    if (story.lock === undefined || story.lock === basename(lock)) stories.push(story);
  }
  // A run ID contains only the minute and random characters, so runs are sorted by the time in their first line.
  return stories.sort((a, b) => (beganAt(a) < beganAt(b) ? 1 : -1));
}

/** Returns one record per run, although each client of a run wrote a record. Prefers a complete record. */
export function eachRunOnce(stories: readonly RunStory[]): RunStory[] {
  const runOf = ({ engineRun, id }: RunStory) => engineRun ?? id;
  const sawOf = ({ how, spentNow }: RunStory) => (how === 'ended' ? Number.POSITIVE_INFINITY : spentNow);
  const whole = new Map<string, RunStory>();
  for (const story of stories) {
    const known = whole.get(runOf(story));
    if (known === undefined || sawOf(story) > sawOf(known)) whole.set(runOf(story), story);
  }
  return stories.filter((story) => whole.get(runOf(story)) === story);
}

export function findRun(name: string, stories: readonly RunStory[]): RunStory {
  const found = stories.filter(({ id }) => id === name || id.endsWith(`-${name}`));
  const [story] = found;
  if (story !== undefined && found.length === 1) return story;
  const near = stories.slice(0, 5).map(({ id }) => id);
  const hint =
    near.length === 0 ? 'this machine has no record of a run of this campaign' : `newest runs: ${near.join(', ')}`;
  throw new CampaignError({ code: 'MB3002', message: `this machine has no record of run ${name}`, hint, name });
}

function beganAt({ at, id }: RunStory): string {
  return at ?? `${id.slice(0, 10)}T${id.slice(11, 13)}:${id.slice(13, 15)}`;
}

export function historyLines(values: readonly Json[]): HistoryLine[] {
  return values.filter(isLine);
}

function isLine(value: Json): value is Json & HistoryLine {
  if (!isMap(value) || Number.isNaN(Date.parse(String(value.at)))) return false;
  return (value.mediabatch === undefined ? findEventViolations(value) : findLineViolations(value)).length === 0;
}

export type Followed =
  | { is: 'idle'; last?: RunStory }
  | { is: 'ended'; close: RunClose }
  | { is: 'gone'; id: string }
  | { is: 'left' };

interface FollowOptions {
  signal: AbortSignal;
  on(event: RunEvent): void;
  onTime(remaining: Remaining | undefined): void;
  onWait(holder: Holder): void;
}

const pollMs = 250;
const lastWordsMs = 1500;

/** Shows the campaign's open run, by reading its event log on this machine. Sends, writes and locks nothing. */
export async function followRun(paths: CampaignPaths, options: FollowOptions): Promise<Followed> {
  const { signal } = options;
  for (let isReported = false; !signal.aborted; ) {
    const holder = await holderOf(paths);
    const [newest] = await listRuns(paths);
    if (newest !== undefined && newest.how === undefined && isOf(newest, holder)) {
      return followTail(newest.id, paths, options);
    }
    if (holder === undefined) return { is: 'idle', ...defined({ last: newest }) };
    if (!isReported) options.onWait(holder);
    isReported = true;
    await pause(signal);
  }
  return { is: 'left' };
}

function isOf(run: RunStory, holder: Holder | undefined): boolean {
  return holder !== undefined && (run.at === undefined || run.at >= holder.since);
}

async function followTail(id: string, paths: CampaignPaths, { signal, on, onTime }: FollowOptions): Promise<Followed> {
  const history = new RunHistory(paths.state, paths.runs);
  let goneAt: number | undefined;
  for (let position = 0; !signal.aborted; ) {
    const { values, next } = (await history.readFrom(id, position)) ?? { values: [], next: position };
    for (const line of historyLines(values)) {
      if ('event' in line) on(line);
      else if (line.mediabatch === 'run-time') onTime(line.remaining);
      else if (line.mediabatch === 'run-close') return { is: 'ended', close: line };
    }
    const isMore = next > position;
    position = next;
    if (isMore) continue;
    if (goneAt !== undefined && systemClock.now() - goneAt > lastWordsMs) return { is: 'gone', id };
    if (goneAt === undefined && (await holderOf(paths)) === undefined) goneAt = systemClock.now();
    await pause(signal);
  }
  return { is: 'left' };
}

async function holderOf({ lock }: CampaignPaths): Promise<Holder | undefined> {
  return readLiveHolder(lock).catch(() => undefined);
}

async function pause(signal: AbortSignal): Promise<void> {
  await systemClock.sleep(pollMs, signal).catch(() => {});
}

const mostCharacters = 48 * 1024 ** 2;

/** Watches a run and writes its events to `.mediabatch/runs/ID.jsonl`. Write errors only cause a notice. */
export async function recordRun(running: Running, campaign: OpenCampaign, observer: Observer): Promise<RunResult> {
  const { on, times, approved, ...ending } = observer;
  const startedAt = systemClock.now();
  // While the run's screen is shown, a notice is an event, because the screen would overwrite a printed line.
  let isRunning = false;
  const lost = (error: unknown) => {
    const message = `the history of this run is not saved: ${messageOf(error)}`;
    if (isRunning) on({ at: timeNow(), event: 'noticed', message });
    else campaign.notify({ is: 'notice', text: message });
  };
  const journal = await openJournal(running, campaign, { lost, approved });
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
    const elapsedMs = systemClock.now() - startedAt;
    const dropped = journal?.dropped || undefined;
    const ended = { at: timeNow(), ...end, spentNow, elapsedMs, ...defined({ dropped }) };
    return journal?.close(safeJson({ mediabatch: 'run-close', version: 1, ...ended } satisfies RunClose));
  };
  try {
    const result = await running.watch({ ...ending, on: record });
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

function timeNow(): string {
  return new Date(systemClock.now()).toISOString();
}

async function openJournal(
  { plan, engineRun }: Running,
  campaign: OpenCampaign,
  { lost, approved }: { lost(error: unknown): void } & Pick<Observer, 'approved'>,
): Promise<RunJournal | undefined> {
  const { paths, sandbox } = campaign;
  try {
    await new RunHistory(paths.state, paths.runs).prune();
    const now = systemClock.now();
    const id = makeRunId(now, systemClock.random);
    const journal = await RunJournal.create(paths.state, paths.runs, {
      name: `${id}.jsonl`,
      mostCharacters,
      onLost: lost,
    });
    const manifest = readSmallFile(paths.manifest, maxManifestBytes);
    const commit = await findCheckedOutCommit(paths.folder);
    const header: RunHeader = {
      ...{ mediabatch: 'run', version: 1, id, at: new Date(now).toISOString(), tool: ownVersion() },
      campaign: plan.campaign,
      ...defined({ manifest: manifest && digestOf(manifest).sha256, commit }),
      ...defined({ approved: approved && { by: approved.by, at: approved.at } }),
      lock: basename(paths.lock),
      sandbox,
      ...defined({ engineRun }),
      steps: countSteps(plan),
      totals: plan.totals,
    };
    journal.add(safeJson(header));
    return journal;
  } catch (error) {
    if (!(error instanceof UnsafeFileError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    lost(error);
    return undefined;
  }
}

const runsToRead = 3;

/**
 * Returns jobs that are running according to the lock, but finished according to a run history on this machine, with
 * the latest error of each step.
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
