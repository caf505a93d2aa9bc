import type { Clock } from '../contract/clock.ts';
import type { RunClose, RunEvent } from '../contract/event.ts';
import type { Holder } from '../contract/failure.ts';
import { readLiveHolder } from '../disk/lock/guard.ts';
import { RunHistory } from '../disk/state/run-history.ts';
import type { RunStory } from '../report/history/run-story.ts';
import type { Remaining } from '../report/run/run-time.ts';
import { historyLines, listRuns } from './find-run.ts';
import type { CampaignPaths } from './paths.ts';

/** How the observation of a run ended. */
export type Followed =
  /** No run is in progress; `last` is the last one that has ended. */
  | { is: 'idle'; last?: RunStory }
  | { is: 'ended'; close: RunClose }
  /** The process of the run is gone, and its history has no end. */
  | { is: 'gone'; id: string }
  /** The caller's signal was aborted. */
  | { is: 'left' };

export interface FollowOptions {
  clock: Clock;
  signal: AbortSignal;
  on(event: RunEvent): void;
  /** Called with the remaining time whenever the run reports another. */
  onTime(remaining: Remaining | undefined): void;
  /** Called once if a process holds the lock but has not begun a run. */
  onWait(holder: Holder): void;
}

const lookEveryMs = 250;
/** How long to wait for the last lines of a run after its claim on the lock is gone, in ms. */
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
    if (holder === undefined) return { is: 'idle', ...(newest !== undefined && { last: newest }) };
    if (!isReported) options.onWait(holder);
    isReported = true;
    await pause(lookEveryMs, { clock, signal });
  }
  return { is: 'left' };
}

/** Whether a run belongs to this claim on the lock. A run begins after its claim; without a claim it is over. */
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
