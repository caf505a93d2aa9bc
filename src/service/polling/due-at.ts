import { leastGapOf, thresholdOf } from './cost.ts';
import { isWaiting, type WatchedJob } from './watched-job.ts';

const ceilingMs = 60_000;
const stragglerFloorMs = 10_000;
const fewSamples = 5;
/**
 * Number of samples below which queries of similar jobs are spread over time: each result shows whether the other jobs
 * are on time.
 */
const spreadUpTo = 20;
const mostSpread = 0.8;

export interface Circumstances {
  fixedMs: number | undefined;
  /** Whether the list of the job's kind covers the job, and is reliable. */
  listed: boolean;
  isLimited: boolean;
}

/** Returns when to query a job individually, in ms since 1970. */
export function dueAt(job: WatchedJob, { fixedMs, listed, isLimited }: Circumstances): number {
  const { askedAge, startedAt, known } = job;
  const at = (age: number) => Math.max(job.notBefore, startedAt + age);
  const notBeen = (gapMs: number) => (askedAge === undefined ? 0 : askedAge + gapMs);
  if (fixedMs !== undefined) return at(askedAge === undefined ? fixedMs : askedAge + fixedMs);
  const stragglerGapMs = Math.max(stragglerFloorMs, (askedAge ?? 0) / 10);
  if (listed) return at(Math.max(known.distribution.quantile(0.99), notBeen(stragglerGapMs)));
  // -1 for a job that was never queried, because a job may end at age 0.
  const last = job.lastAge ?? -1;
  const { length: seen } = known.samples;
  if (job.isProbe && seen < 2) return at(Math.max(probeAge(job), notBeen(leastProbeGapMs(job))));
  const isGuess = seen === 0;
  const floorMs = leastGapOf(known);
  const least = isGuess ? Math.max(floorMs, notBeen(floorMs)) : notBeen(floorMs);
  // If hardly any longer job is known, assume that equally many end in each doubling of the age.
  const isUncharted = !isGuess && last > 0 && known.countAbove(last) < fewSamples;
  const thresholdMs = thresholdOf(job, { isUncharted, isLimited });
  const explored = isUncharted ? last + Math.min(last / 5, Math.sqrt(last * thresholdMs)) : Number.POSITIVE_INFINITY;
  const due = Math.min(known.distribution.dueAge(last, thresholdMs), explored, last + ceilingMs);
  const spread = mostSpread * Math.max(0, 1 - seen / spreadUpTo) * job.luck;
  return at(Math.max(due + spread * (due - Math.max(0, last)), least));
}

/**
 * Useful number of jobs in flight, as a multiple of the jobs that can be queried while one runs. At 4, nearly all are
 * over when they are queried, and one query each is enough. At 1, a run takes up to a quarter longer; above 4, finished
 * jobs only stay undetected longer.
 */
const usefulTimes = 4;
/**
 * Lower limit of the useful number, because creating a job takes time as well, and a low request rate may be temporary.
 */
const leastUseful = 100;
const fewestSamples = 3;

/**
 * Returns the number of jobs in flight above which a further job does not end sooner, if each is queried
 * individually. Infinite without a limit on requests (`gapMs` 0), and while durations are unknown. `gapMs`: time from
 * one request to the next.
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

function leastProbeGapMs({ kind }: WatchedJob): number {
  return kind.typicalMs / 100;
}

/**
 * Returns the age for the next probe, to find the usual duration of such jobs by queries at growing ages. Each probe
 * queries another job, because a job just seen running gives less information than one that may be over. A job that
 * is alone, or was queried before, is probed less often. So are kinds with a list, because the list shows all jobs.
 */
function probeAge(job: WatchedJob): number {
  const { kind, lastAge, probedAge, known } = job;
  const last = Math.max(lastAge ?? -1, probedAge);
  const least = leastProbeGapMs(job);
  if (last <= 0) return last + least / 5;
  const isNext = lastAge === undefined && kind.list === undefined;
  const gap = isNext ? Math.max(least / 2, last / 10) : Math.max(least, last / 3);
  return last + Math.min(gap, Math.max(2000, known.distribution.quantile(0.5) / 8));
}

/**
 * Returns the next job to probe after the current probe was still running at that age: the oldest that was never
 * queried, if any.
 */
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
