import { basename } from 'node:path';
import type { Clock } from '../contract/clock.ts';
import type { HistoryLine, RunClose, RunEvent } from '../contract/event.ts';
import { CampaignError, type Holder } from '../contract/failure.ts';
import { readLiveHolder } from '../disk/lock/guard.ts';
import { RunHistory } from '../disk/state/run-history.ts';
import type { Json } from '../ground/json.ts';
import { defined, isMap } from '../ground/values.ts';
import { type RunStory, tellRun } from '../report/history/run-story.ts';
import type { Remaining } from '../report/run/remaining-time.ts';
import type { CampaignPaths } from './paths.ts';
import { findViolations as findEventViolations } from './validate-event.generated.ts';
import { findViolations as findLineViolations } from './validate-run-line.generated.ts';

export async function listRuns({ state, runs, lock }: CampaignPaths): Promise<RunStory[]> {
  const history = new RunHistory(state, runs);
  const stories: RunStory[] = [];
  for (const { id } of await history.list()) {
    const story = tellRun(id, historyLines((await history.readEnds(id)) ?? []));
    // Campaigns of one folder share the histories. A run whose first line is damaged may belong to any of them.
    if (story.lock === undefined || story.lock === basename(lock)) stories.push(story);
  }
  // Ids contain the time to the minute, followed by random characters.
  return stories.sort((a, b) => (beganAt(a) < beganAt(b) ? 1 : -1));
}

/**
 * Keeps one record of each run on an engine. A client that attaches again records the run's events again, although
 * its credits were spent once. Keeps the record with the end of the run, or else the one with the most credits.
 */
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
  const hint = near.length === 0 ? 'no run of this campaign is on record here' : `the newest: ${near.join(', ')}`;
  throw new CampaignError({ code: 'MB3002', message: `there is no run ${name} on record here`, hint, name });
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
  clock: Clock;
  signal: AbortSignal;
  on(event: RunEvent): void;
  onTime(remaining: Remaining | undefined): void;
  onWait(holder: Holder): void;
}

const lookEveryMs = 250;
const lastWordsMs = 1500;

/**
 * Follows the run that holds the lock by reading its history: nothing is sent, written or locked. A run on another
 * machine writes its history there and is not found. The result is no `Running`, because the history has no plan, and
 * a run whose process is gone has no result.
 */
export async function followRun(paths: CampaignPaths, options: FollowOptions): Promise<Followed> {
  const { clock, signal } = options;
  for (let isReported = false; !signal.aborted; ) {
    const holder = await holderOf(paths);
    const [newest] = await listRuns(paths);
    if (newest !== undefined && newest.how === undefined && isOf(newest, holder)) {
      return followTail(newest.id, paths, options);
    }
    if (holder === undefined) return { is: 'idle', ...defined({ last: newest }) };
    if (!isReported) options.onWait(holder);
    isReported = true;
    await pause(lookEveryMs, { clock, signal });
  }
  return { is: 'left' };
}

function isOf(run: RunStory, holder: Holder | undefined): boolean {
  return holder !== undefined && (run.at === undefined || run.at >= holder.since);
}

async function followTail(
  id: string,
  paths: CampaignPaths,
  { clock, signal, on, onTime }: FollowOptions,
): Promise<Followed> {
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
    if (goneAt !== undefined && clock.now() - goneAt > lastWordsMs) return { is: 'gone', id };
    if (goneAt === undefined && (await holderOf(paths)) === undefined) goneAt = clock.now();
    await pause(lookEveryMs, { clock, signal });
  }
  return { is: 'left' };
}

async function holderOf({ lock }: CampaignPaths): Promise<Holder | undefined> {
  return readLiveHolder(lock).catch(() => undefined);
}

async function pause(ms: number, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
  await clock.sleep(ms, signal).catch(() => {});
}
