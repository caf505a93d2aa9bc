import type { Json } from '../../ground/json.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HttpAnswer } from '../http.ts';
import type { KnownDurations } from './durations.ts';

/** A job whose end is awaited. Ages are in ms since `startedAt`. */
export interface WatchedJob {
  readonly kind: Kind;
  readonly jobId: string;
  readonly known: KnownDurations;
  /** Importance of detecting the end, above 0: below 1 if no step waits for the job. */
  readonly urgency: () => number;
  readonly fresh: boolean;
  /** In ms since 1970. Adjusted when the service reports the start. */
  startedAt: number;
  /** Age at which the job was last known to run. */
  lastAge: number | undefined;
  /** Age at the last individual query, even without a usable answer. */
  askedAge: number | undefined;
  /** Age when a list last showed the job as running. */
  listAge: number | undefined;
  /** Position in the list, counted from its end; `undefined` during a search for the job. */
  rank: number | undefined;
  /** Start of the search, in ms since 1970. */
  soughtAt: number;
  /** Number of consecutive searches that did not find the job. */
  missing: number;
  /** Earliest and latest time of the next query, in ms since 1970. */
  notBefore: number;
  latest: number;
  /** Only queue entries with this number are valid. */
  turn: number;
  waiter: Waiter | undefined;
  isAsked: boolean;
}

interface Waiter {
  path: string;
  signal: AbortSignal;
  resolve(answer: HttpAnswer | undefined): void;
}

/** Threshold: the time in ms that an end may stay undetected, as a share of the median duration. */
const thresholdShare = 1 / 13;
const leastThresholdMs = 10;
const mostThresholdMs = 1500;
/** Share of the threshold for a listed job, because one page shows many jobs. */
const listedShare = 1 / 2;
const leastGapMs = 100;
const gapShare = 1 / 25;
const mostGapMs = 60_000;
/**
 * While no duration is known, one job at a time is queried: first at a share of the typical duration, then at ages that
 * grow by a factor. `sameFactor` is the factor for a job that was queried before.
 */
const probeFrom = 1 / 50;
const probeFactor = 1.2;
const sameFactor = 4 / 3;

/**
 * Returns when to query a job, in ms since 1970. `probedAge`: age at which a job of this kind was last seen running, if
 * no duration is known and this job is the probe.
 */
export function dueAt(
  job: WatchedJob,
  { probedAge, fixedMs }: { probedAge: number | undefined; fixedMs: number | undefined },
): number {
  const { known, startedAt, askedAge, notBefore, kind } = job;
  const at = (age: number) => Math.max(notBefore, startedAt + age);
  const last = Math.max(job.lastAge ?? 0, askedAge ?? 0);
  if (fixedMs !== undefined) return at(last + fixedMs);
  const { medianMs } = known;
  if (known.samples.length === 0) {
    const from =
      probedAge === undefined ? kind.typicalMs : Math.max(kind.typicalMs * probeFrom, probedAge * probeFactor);
    return at(
      Math.max(
        askedAge === undefined ? 0 : askedAge + leastGapMs,
        Math.min(last + mostGapMs, Math.max(last * sameFactor, from)),
      ),
    );
  }
  const usual = Math.min(mostThresholdMs, Math.max(leastThresholdMs, medianMs * thresholdShare));
  const threshold = (usual * (job.rank === undefined ? 1 : listedShare)) / job.urgency();
  const least = askedAge === undefined ? 0 : askedAge + Math.max(leastGapMs, Math.min(2000, medianMs * gapShare));
  return at(Math.max(least, Math.min(known.nextAge(job.lastAge ?? -1, threshold), last + mostGapMs)));
}

export function isWaiting({ waiter, isAsked }: WatchedJob): boolean {
  return waiter !== undefined && !isAsked;
}

/** Returns the duration in ms of a job that was over at `age` but not at `before`, both in ms. */
export function tookMs(data: { [key: string]: Json }, age: number, before: number | undefined): number {
  const served = servedMs(data);
  // Ignored if the service's clock runs at another pace.
  if (served !== undefined && served <= age + 5000) return served;
  return before === undefined ? age : (before + age) / 2;
}

/** Returns the duration in ms by the service's clock; `undefined` if it is not precise enough. */
function servedMs(data: { [key: string]: Json }): number | undefined {
  const { createdAt, completedAt } = data;
  if (typeof createdAt !== 'string' || typeof completedAt !== 'string') return undefined;
  const [from, to] = [Date.parse(createdAt), Date.parse(completedAt)];
  if (Number.isNaN(from) || Number.isNaN(to) || to < from) return undefined;
  // Times in whole seconds are too coarse for a short job.
  const isCoarse = from % 1000 === 0 && to % 1000 === 0;
  return isCoarse && to - from < 20_000 ? undefined : to - from;
}
