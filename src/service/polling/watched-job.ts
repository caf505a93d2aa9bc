import type { Json } from '../../ground/json.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HttpAnswer } from '../http.ts';
import type { KnownDurations } from './durations.ts';

/** A job that somebody waits for. Ages are in ms since it was made, as far as that is known. */
export interface WatchedJob {
  readonly kind: Kind;
  readonly jobId: string;
  readonly known: KnownDurations;
  /** How much hangs on seeing its end, above 0; less than 1 where nobody waits for it. */
  readonly urgency: () => number;
  /** Which of its kind it is in this run. */
  readonly number: number;
  readonly fresh: boolean;
  /** Its own number in [0, 1): jobs that are alike are not all looked at together. */
  readonly luck: number;
  /** Is next in the looks that find out how long such jobs take at all. */
  isProbe: boolean;
  /** The age at which another job was the last to be probed; -1: none was. */
  probedAge: number;
  /** Ms since 1970. Moved when the service tells. */
  startedAt: number;
  /** At the last look that could be relied on; undefined before the first. */
  lastAge: number | undefined;
  /** At the last list that showed it as not over. */
  listAge: number | undefined;
  /** Which record of its list it should be, counted from below. */
  listRank: number;
  /** It can be none above this. */
  mostRank: number | undefined;
  /** It was seen there; otherwise it is sought. */
  isPlaced: boolean;
  /** Pages of the list that were read before do not count as searched, ms since 1970. */
  soughtAt: number;
  /** At the last look at it alone, whatever the answer was. */
  askedAge: number | undefined;
  /** How often in turn its list was searched for it in vain. Twice: it is asked about by itself. */
  missing: number;
  /** Pages of its list that were read since it was last seen there. */
  inVain: number;
  /** Not before this, ms since 1970: the service asked for it, or gave no usable answer. */
  notBefore: number;
  /** Its place among those that wait is only true with this number. */
  turn: number;
  /** When its turn comes, ms since 1970, as far as it was known when it was queued. */
  queuedAt: number;
  waiter: Waiter | undefined;
  /** A status call is on the wire. */
  isAsked: boolean;
}

/** A job that nobody has looked at yet. */
export function newlyWatched(
  job: Pick<WatchedJob, 'kind' | 'jobId' | 'known' | 'urgency' | 'number' | 'fresh' | 'startedAt' | 'luck'>,
): WatchedJob {
  const { kind, jobId, known, urgency, number, fresh, startedAt, luck } = job;
  // Named one by one: V8 makes an object of so many fields ten times as quickly when it sees all of them at once.
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

/** How long a job took that was seen to be over at `age`, and was not at `before`, both in ms. */
export function tookMs(data: { [key: string]: Json }, age: number, before: number | undefined): number {
  const served = servedMs(data);
  // A clock that runs at another pace says nothing.
  if (served !== undefined && served <= age + 5000) return served;
  return before === undefined ? age : (before + age) / 2;
}

/** How long a finished job took by the service's own clock, in ms; undefined when it does not say well enough. */
function servedMs(data: { [key: string]: Json }): number | undefined {
  const { createdAt, completedAt } = data;
  if (typeof createdAt !== 'string' || typeof completedAt !== 'string') return undefined;
  const [from, to] = [Date.parse(createdAt), Date.parse(completedAt)];
  if (Number.isNaN(from) || Number.isNaN(to) || to < from) return undefined;
  // Times in whole seconds say too little about a short job.
  const isCoarse = from % 1000 === 0 && to % 1000 === 0;
  return isCoarse && to - from < 20_000 ? undefined : to - from;
}
