import type { Json } from '../../ground/json.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HttpAnswer } from '../http.ts';
import type { KnownDurations } from './durations.ts';

/** A job that the poller watches. Ages are in ms since `startedAt`. */
export interface WatchedJob {
  readonly kind: Kind;
  readonly jobId: string;
  readonly known: KnownDurations;
  /** Factor of the polling rate, above 0. Below 1 if no step waits for the job. */
  readonly urgency: () => number;
  readonly fresh: boolean;
  /** Start of the job in ms since 1970. The start is corrected when the service reports it. */
  startedAt: number;
  /** Age of the job in ms at which it was last certainly running. */
  lastAge: number | undefined;
  /** Age of the job in ms at its last status query, even if the answer was not usable. */
  askedAge: number | undefined;
  listAge: number | undefined;
  /** Position in the list, counted from the oldest record. Undefined while a search for the job reads the list. */
  rank: number | undefined;
  /** Time in ms since 1970 at which the search for the job in the list began. */
  soughtAt: number;
  /** Number of consecutive searches that did not find the job in the list. */
  missing: number;
  /** In ms since 1970. The next query is sent between `notBefore` and `latest`. */
  notBefore: number;
  latest: number;
  /** Queue entries of the job with another `turn` are outdated. */
  turn: number;
  waiter: Waiter | undefined;
  isAsked: boolean;
}

interface Waiter {
  path: string;
  signal: AbortSignal;
  resolve(answer: HttpAnswer | undefined): void;
}

/** Share of the median duration for which the end of a job may stay undetected. The resulting time is the threshold. */
const thresholdShare = 1 / 13;
const leastThresholdMs = 10;
const mostThresholdMs = 1500;
/** Factor that lowers the threshold for a job in a list, because one page shows many jobs. */
const listedShare = 1 / 2;
const leastGapMs = 100;
const gapShare = 1 / 25;
const mostGapMs = 60_000;
/**
 * While no duration is known, one job at a time is queried. The job's age at the first query is this share of the
 * typical duration. The age at each next query is larger by `probeFactor`, or by `sameFactor` if it is the same job.
 */
const probeFrom = 1 / 50;
const probeFactor = 1.2;
const sameFactor = 4 / 3;

/**
 * Returns the time of the next query of a job, in ms since 1970. `probedAge`: age at which the previous probe was still
 * running. Set only if this job is the probe.
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

/** Returns how long a job took, in ms, that was running at age `before` and had ended at age `age`. */
export function durationMs(data: { [key: string]: Json }, age: number, before: number | undefined): number {
  const served = servedMs(data);
  // Ignores the duration if the service's clock runs faster than the local clock.
  if (served !== undefined && served <= age + 5000) return served;
  return before === undefined ? age : (before + age) / 2;
}

function servedMs(data: { [key: string]: Json }): number | undefined {
  const { createdAt, completedAt } = data;
  if (typeof createdAt !== 'string' || typeof completedAt !== 'string') return undefined;
  const [from, to] = [Date.parse(createdAt), Date.parse(completedAt)];
  if (Number.isNaN(from) || Number.isNaN(to) || to < from) return undefined;
  // For a short job, ignores times in whole seconds, which are too coarse.
  const isCoarse = from % 1000 === 0 && to % 1000 === 0;
  return isCoarse && to - from < 20_000 ? undefined : to - from;
}
