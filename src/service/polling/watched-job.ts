import type { Json } from '../../ground/json.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HttpAnswer } from '../http.ts';
import type { KnownDurations } from './durations.ts';

/** A job whose end is awaited. Ages are in ms since the job was made, as far as that is known. */
export interface WatchedJob {
  readonly kind: Kind;
  readonly jobId: string;
  readonly known: KnownDurations;
  /** Importance of detecting the job's end, above 0; below 1 if no step waits for it. */
  readonly urgency: () => number;
  /** Sequence number among the jobs of its kind in this run. */
  readonly number: number;
  readonly fresh: boolean;
  /** Random number in [0, 1), so that similar jobs are not all queried together. */
  readonly luck: number;
  /** Whether this job is the probe, whose queries find the usual duration of such jobs. */
  isProbe: boolean;
  /** Age at which another job was last probed; -1 if none was. */
  probedAge: number;
  /** Start in ms since 1970. Adjusted when the service reports it. */
  startedAt: number;
  /** Age at the last reliable query; `undefined` before the first. */
  lastAge: number | undefined;
  /** Age at the last list that showed the job as running. */
  listAge: number | undefined;
  /** Expected rank in the list, counted from the end. */
  listRank: number;
  /** Upper bound of its rank. */
  mostRank: number | undefined;
  /** Whether the list has shown the job at this rank; otherwise it is being searched for. */
  isPlaced: boolean;
  /** Time in ms since 1970 when the search began: pages read earlier do not count. */
  soughtAt: number;
  /** Age at the last individual query, even if it gave no usable answer. */
  askedAge: number | undefined;
  /** Number of consecutive searches of the list in vain. From two on, the job is queried individually. */
  missing: number;
  /** Pages of the list read since the job was last seen there. */
  inVain: number;
  /** Earliest time of the next query, in ms since 1970: the service requested it, or gave no usable answer. */
  notBefore: number;
  /** Current turn: queue entries of another turn are not valid. */
  turn: number;
  /** Time in ms since 1970 when the job is due, as known when it was queued. */
  queuedAt: number;
  waiter: Waiter | undefined;
  isAsked: boolean;
}

export function newlyWatched(
  job: Pick<WatchedJob, 'kind' | 'jobId' | 'known' | 'urgency' | 'number' | 'fresh' | 'startedAt' | 'luck'>,
): WatchedJob {
  const { kind, jobId, known, urgency, number, fresh, startedAt, luck } = job;
  // Fields are listed individually because V8 creates such a large object ten times as fast from a complete literal.
  return {
    kind,
    jobId,
    known,
    urgency,
    number,
    fresh,
    startedAt,
    luck,
    isProbe: fresh && known.wantsProbe(),
    probedAge: -1,
    lastAge: undefined,
    listAge: undefined,
    listRank: 0,
    mostRank: undefined,
    isPlaced: false,
    soughtAt: startedAt,
    askedAge: undefined,
    missing: 0,
    inVain: 0,
    notBefore: 0,
    turn: 0,
    queuedAt: 0,
    waiter: undefined,
    isAsked: false,
  };
}

interface Waiter {
  path: string;
  signal: AbortSignal;
  resolve(answer: HttpAnswer | undefined): void;
}

export function isWaiting({ waiter, isAsked }: WatchedJob): boolean {
  return waiter !== undefined && !isAsked;
}

/** Returns the duration in ms of a job seen to be over at `age` but not at `before`, both in ms. */
export function tookMs(data: { [key: string]: Json }, age: number, before: number | undefined): number {
  const served = servedMs(data);
  // A service clock that runs at another pace is ignored.
  if (served !== undefined && served <= age + 5000) return served;
  return before === undefined ? age : (before + age) / 2;
}

/**
 * Returns the duration of a finished job in ms, by the service's own clock; `undefined` if it is not precise enough.
 */
function servedMs(data: { [key: string]: Json }): number | undefined {
  const { createdAt, completedAt } = data;
  if (typeof createdAt !== 'string' || typeof completedAt !== 'string') return undefined;
  const [from, to] = [Date.parse(createdAt), Date.parse(completedAt)];
  if (Number.isNaN(from) || Number.isNaN(to) || to < from) return undefined;
  // Times in whole seconds are too coarse for a short job.
  const isCoarse = from % 1000 === 0 && to % 1000 === 0;
  return isCoarse && to - from < 20_000 ? undefined : to - from;
}
