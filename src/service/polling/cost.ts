import type { KnownDurations } from './durations.ts';
import type { WatchedJob } from './watched-job.ts';

/*
 * A look costs a request. Its threshold is how long the end of a job may stay unseen, in ms: a job is looked at when the wait
 * for news that may be there has grown to it. Half the threshold makes 1.4 times the looks, and news 0.7 times as late.
 *
 * - It is a part of what such jobs take: being late by a tenth of a second is much for a job of one second, and nothing for
 *   one of a minute.
 * - While a kind is being learned, many looks go where no news is, and each of them is a request to a service of which
 *   nothing is known either: about four per job. Once durations are well known looks go where the news is, and jobs are
 *   asked about twice as often – but not those that are older than what is known, and not where the service has said (429)
 *   that it is asked too often: then looks are spared as before.
 * - Where somebody waits for the slot, the result or the end of the run, the threshold is lower (`urgencyOf` of the engine);
 *   where nobody does it is higher, which makes up for some of the others.
 */
const sparingShare = 1 / 12;
const knownShare = 1 / 90;
const leastThresholdMs = 10;
/** However long jobs take: so late is late. */
const mostThresholdMs = 1500;

/** Two looks at one job are never closer than a part of what such jobs take, nor than this. */
const gapShare = 1 / 25;
const leastGapMs = 100;
/** Nor, where nothing shows that jobs are faster, than this. */
const mostGapMs = 2000;

/** The threshold of a look at one job, in ms. `isUncharted`: hardly any job is known to have taken so long. */
export function thresholdOf(job: WatchedJob, when: { isUncharted: boolean; isLimited: boolean }): number {
  const { known, urgency } = job;
  const isSparing = !known.isWellKnown || when.isUncharted || when.isLimited;
  const threshold = isSparing ? sparingThresholdOf(known) : part(known, knownShare);
  return threshold / urgency();
}

/** How much a look would tell, for choosing among many: expected undetected ms, weighted. */
export function benefitOf(job: WatchedJob, age: number, last: number): number {
  return job.urgency() * job.known.distribution.undetected(last, age);
}

/** The threshold of a look where looks are spared and nothing is urgent, in ms. */
export function sparingThresholdOf(known: KnownDurations): number {
  return part(known, sparingShare);
}

function part(known: KnownDurations, share: number): number {
  return Math.min(mostThresholdMs, Math.max(leastThresholdMs, known.distribution.quantile(0.5) * share));
}

/** Least time between two looks at one job, in ms. */
export function leastGapOf(known: KnownDurations): number {
  if (known.samples.length === 0) return mostGapMs;
  return Math.min(mostGapMs, Math.max(leastGapMs, known.distribution.quantile(0.5) * gapShare));
}
