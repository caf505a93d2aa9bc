import type { Json } from '../../ground/json.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HttpAnswer } from '../http.ts';
import type { KnownDurations } from './durations.ts';

/** A job that someone waits for. Ages are in ms since it was made, as far as that is known. */
export interface WatchedJob {
  readonly kind: Kind;
  readonly jobId: string;
  readonly known: KnownDurations;
  /** Importance of seeing its end, above 0; below 1 where nobody waits for it. */
  readonly urgency: () => number;
  /** Its number among its kind in this run. */
  readonly number: number;
  readonly fresh: boolean;
  /** Its own number in [0, 1): similar jobs are not all queried together. */
  readonly luck: number;
  /** Next in the queries that find out how long such jobs take at all. */
  isProbe: boolean;
  /** The age at which another job was last probed; -1: none was. */
  probedAge: number;
  /** Start in ms since 1970. Adjusted when the service tells. */
  startedAt: number;
  /** Age at the last reliable query; undefined before the first. */
  lastAge: number | undefined;
  /** Age at the last list that showed it as running. */
  listAge: number | undefined;
  /** Its expected record in its list, counted from below. */
  listRank: number;
  /** Upper bound of its rank. */
  mostRank: number | undefined;
  /** It was seen there; otherwise it is being sought. */
  isPlaced: boolean;
  /** Pages of the list read before this do not count as searched, in ms since 1970. */
  soughtAt: number;
  /** Age at the last query of it alone, whatever the answer was. */
  askedAge: number | undefined;
  /** Consecutive searches of its list in vain. Two: it is queried individually. */
  missing: number;
  /** Pages of its list read since it was last seen there. */
  inVain: number;
  /** Earliest time, in ms since 1970: the service asked for it, or gave no usable answer. */
  notBefore: number;
  /** Number without which its place in the queue is not valid. */
  turn: number;
  /** Time when its turn comes, in ms since 1970, as known when it was queued. */
  queuedAt: number;
  waiter: Waiter | undefined;
  /** A status call is in flight. */
  isAsked: boolean;
}

/** A job that was never queried. */
export function newlyWatched(
  job: Pick<WatchedJob, 'kind' | 'jobId' | 'known' | 'urgency' | 'number' | 'fresh' | 'startedAt' | 'luck'>,
): WatchedJob {
  const { kind, jobId, known, urgency, number, fresh, startedAt, luck } = job;
  // Fields listed one by one: V8 creates such a large object ten times as fast when it sees all of them at once.
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

/** Duration of a job seen to be over at `age`, and not at `before`, both in ms. */
export function tookMs(data: { [key: string]: Json }, age: number, before: number | undefined): number {
  const served = servedMs(data);
  // A clock that runs at another pace proves nothing.
  if (served !== undefined && served <= age + 5000) return served;
  return before === undefined ? age : (before + age) / 2;
}

/** Duration of a finished job by the service's own clock, in ms; undefined when it is not precise enough. */
function servedMs(data: { [key: string]: Json }): number | undefined {
  const { createdAt, completedAt } = data;
  if (typeof createdAt !== 'string' || typeof completedAt !== 'string') return undefined;
  const [from, to] = [Date.parse(createdAt), Date.parse(completedAt)];
  if (Number.isNaN(from) || Number.isNaN(to) || to < from) return undefined;
  // Times in whole seconds say too little about a short job.
  const isCoarse = from % 1000 === 0 && to % 1000 === 0;
  return isCoarse && to - from < 20_000 ? undefined : to - from;
}
