import type { WatchedJob } from './watched-job.ts';

/**
 * With so many times the jobs that can be queried while one runs, nearly all are over when they are queried, and one
 * query each is enough. With just as many, a run takes up to a quarter longer; with more, jobs only stay unseen longer.
 */
const usefulTimes = 4;
/** A create takes its time as well, and a rate is soon low for a while. */
const leastUseful = 100;
const fewestSamples = 3;

/**
 * Jobs in flight beyond which another one ends no sooner, as each is queried alone. Infinite without a limit on requests
 * (`gapMs` 0), and while durations are unknown. `gapMs`: from one request to the next.
 */
export function usefulInFlight(jobs: Iterable<WatchedJob>, gapMs: number): number {
  if (gapMs === 0) return Number.POSITIVE_INFINITY;
  let longestMs = 0;
  for (const known of new Set(Array.from(jobs, (job) => job.known))) {
    if (known.samples.length < fewestSamples) return Number.POSITIVE_INFINITY;
    longestMs = Math.max(longestMs, known.distribution.quantile(0.5));
  }
  return Math.max(leastUseful, (usefulTimes * longestMs) / gapMs);
}
