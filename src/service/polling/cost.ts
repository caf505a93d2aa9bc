import type { KnownDurations } from './durations.ts';
import type { WatchedJob } from './watched-job.ts';

/*
 * A query costs a request. Its threshold is how long the end of a job may go unnoticed, in ms: a job is queried when
 * the wait for news that may be there has grown to it. Half the threshold makes 1.4 times the queries, and news 0.7
 * times as late.
 *
 * - It is a share of what such jobs take: a tenth of a second late is much for a job of one second, and nothing for one
 *   of a minute.
 * - While a kind is being learned, many queries find no news: about four per job. Once durations are well known, queries
 *   go where the news is, and jobs are queried
 *   twice as often – except jobs older than the known durations, and except where the service has complained (429)
 *   about the rate: then queries are spared as before.
 * - Where someone waits for the slot, the result or the end of the run, the threshold is lower (`urgencyOf` of the
 *   engine); where nobody does it is higher, which makes up for some of the others.
 */
const sparingShare = 1 / 12;
const knownShare = 1 / 90;
const leastThresholdMs = 10;
/** Upper limit however long jobs take: beyond this, late is late. */
const mostThresholdMs = 1500;

/** Minimum gap between two queries of one job: a share of what such jobs take, and an absolute floor. */
const gapShare = 1 / 25;
const leastGapMs = 100;
/** Cap on that gap while nothing shows that jobs are faster. */
const mostGapMs = 2000;

/** Threshold for querying one job, in ms. `isUncharted`: hardly any job is known to have taken so long. */
export function thresholdOf(job: WatchedJob, when: { isUncharted: boolean; isLimited: boolean }): number {
  const { known, urgency } = job;
  const isSparing = !known.isWellKnown || when.isUncharted || when.isLimited;
  const threshold = isSparing ? sparingThresholdOf(known) : part(known, knownShare);
  return threshold / urgency();
}

/** Expected benefit of a query, for choosing among many: expected undetected ms, weighted. */
export function benefitOf(job: WatchedJob, age: number, last: number): number {
  return job.urgency() * job.known.distribution.undetected(last, age);
}

/** Threshold when queries are spared and nothing is urgent, in ms. */
export function sparingThresholdOf(known: KnownDurations): number {
  return part(known, sparingShare);
}

function part(known: KnownDurations, share: number): number {
  return Math.min(mostThresholdMs, Math.max(leastThresholdMs, known.distribution.quantile(0.5) * share));
}

/** Minimum time between two queries of one job, in ms. */
export function leastGapOf(known: KnownDurations): number {
  if (known.samples.length === 0) return mostGapMs;
  return Math.min(mostGapMs, Math.max(leastGapMs, known.distribution.quantile(0.5) * gapShare));
}
