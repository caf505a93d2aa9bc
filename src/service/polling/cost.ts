import type { KnownDurations } from './durations.ts';
import type { WatchedJob } from './watched-job.ts';

/*
 * Each query costs a request. Its threshold is the time, in ms, that the end of a job may stay undetected: a job is
 * queried when the expected time since its undetected end reaches the threshold. Half the threshold means 1.4 times the
 * queries, and a delay of 0.7 times.
 * - The threshold is a share of the usual duration: a delay of a tenth of a second matters for a job of one second, but
 * not for a job of one minute.
 * - While the durations of a kind are being learned, many queries detect nothing: about four per job. Once durations
 * are well known, queries are well timed, and jobs are queried twice as often. Exceptions are jobs older than the known
 * durations, and a service that has answered 429: then queries are spared as before.
 * - If the slot, the result or the end of the run is awaited, the threshold is lower (`urgencyOf` of the engine).
 * Otherwise it is higher, which compensates for some of the others.
 */
const sparingShare = 1 / 12;
const knownShare = 1 / 90;
const leastThresholdMs = 10;
/** Upper limit of the threshold in ms: beyond it, a delay matters even for long jobs. */
const mostThresholdMs = 1500;

/** Minimum gap between two queries of one job: a share of the usual duration, and an absolute minimum in ms. */
const gapShare = 1 / 25;
const leastGapMs = 100;
/** Maximum of that gap in ms, used while no durations are known. */
const mostGapMs = 2000;

/**
 * Returns the threshold for querying one job, in ms. `isUncharted`: hardly any known job took as long as this job
 * already has.
 */
export function thresholdOf(job: WatchedJob, when: { isUncharted: boolean; isLimited: boolean }): number {
  const { known, urgency } = job;
  const isSparing = !known.isWellKnown || when.isUncharted || when.isLimited;
  const threshold = isSparing ? sparingThresholdOf(known) : part(known, knownShare);
  return threshold / urgency();
}

/**
 * Returns the expected benefit of a query, for choosing among many: expected undetected time in ms, weighted by
 * urgency.
 */
export function benefitOf(job: WatchedJob, age: number, last: number): number {
  return job.urgency() * job.known.distribution.undetected(last, age);
}

/** Returns the threshold in ms when queries are spared and nothing is urgent. */
export function sparingThresholdOf(known: KnownDurations): number {
  return part(known, sparingShare);
}

function part(known: KnownDurations, share: number): number {
  return Math.min(mostThresholdMs, Math.max(leastThresholdMs, known.distribution.quantile(0.5) * share));
}

export function leastGapOf(known: KnownDurations): number {
  if (known.samples.length === 0) return mostGapMs;
  return Math.min(mostGapMs, Math.max(leastGapMs, known.distribution.quantile(0.5) * gapShare));
}
