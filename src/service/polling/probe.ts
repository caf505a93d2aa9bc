import { isWaiting, type WatchedJob } from './watched-job.ts';

/** Minimum gap between two probes. */
export function leastProbeGapMs({ kind }: WatchedJob): number {
  return kind.typicalMs / 100;
}

/**
 * Finds out how long such jobs take at all, by queries at growing ages, each of another job: one seen running tells
 * less than one that may be over. A job that is alone, or was queried before, is probed less often, and so are kinds
 * with a list: that shows all of them.
 */
export function probeAge(job: WatchedJob): number {
  const { kind, lastAge, probedAge, known } = job;
  const last = Math.max(lastAge ?? -1, probedAge);
  const least = leastProbeGapMs(job);
  if (last <= 0) return last + least / 5;
  const isNext = lastAge === undefined && kind.list === undefined;
  const gap = isNext ? Math.max(least / 2, last / 10) : Math.max(least, last / 3);
  return last + Math.min(gap, Math.max(2000, known.distribution.quantile(0.5) / 8));
}

/** Next job to probe after one was not over at that age: the oldest that was never queried, if any. */
export function passOn(job: WatchedJob, age: number, jobs: Iterable<WatchedJob>): WatchedJob | undefined {
  if (!job.isProbe || job.known.samples.length > 0) return undefined;
  let next: WatchedJob | undefined;
  for (const other of jobs) {
    const isNew = other.fresh && other.lastAge === undefined && other.known === job.known && isWaiting(other);
    if (isNew && (next === undefined || other.startedAt < next.startedAt)) next = other;
  }
  if (next === undefined) return undefined;
  job.isProbe = false;
  next.isProbe = true;
  next.probedAge = age;
  return next;
}
