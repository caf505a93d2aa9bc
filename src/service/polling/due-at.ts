import { leastGapOf, thresholdOf } from './cost.ts';
import { isWaiting, type WatchedJob } from './watched-job.ts';

const ceilingMs = 60_000;
const stragglerFloorMs = 10_000;
const fewSamples = 5;
/** Number of samples below which queries are spread: each tells whether the other jobs are on time. */
const spreadUpTo = 20;
const mostSpread = 0.8;

export interface Circumstances {
  /** Fixed interval. */
  fixedMs: number | undefined;
  /** Its kind's list covers it, and is reliable. */
  listed: boolean;
  /** The service has complained about the request rate. */
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
  // Not yet queried differs from queried at creation: jobs may take no time at all.
  const last = job.lastAge ?? -1;
  const { length: seen } = known.samples;
  if (job.isProbe && seen < 2) return at(Math.max(probeAge(job), notBeen(leastProbeGapMs(job))));
  const isGuess = seen === 0;
  const floorMs = leastGapOf(known);
  const least = isGuess ? Math.max(floorMs, notBeen(floorMs)) : notBeen(floorMs);
  // Where hardly any longer job is known, about as many end in each doubling of the age.
  const isUncharted = !isGuess && last > 0 && known.countAbove(last) < fewSamples;
  const thresholdMs = thresholdOf(job, { isUncharted, isLimited });
  const explored = isUncharted ? last + Math.min(last / 5, Math.sqrt(last * thresholdMs)) : Number.POSITIVE_INFINITY;
  const due = Math.min(known.distribution.dueAge(last, thresholdMs), explored, last + ceilingMs);
  const spread = mostSpread * Math.max(0, 1 - seen / spreadUpTo) * job.luck;
  return at(Math.max(due + spread * (due - Math.max(0, last)), least));
}

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

/** Minimum gap between two probes. */
function leastProbeGapMs({ kind }: WatchedJob): number {
  return kind.typicalMs / 100;
}

/**
 * Finds out how long such jobs take at all, by queries at growing ages, each of another job: one seen running tells
 * less than one that may be over. A job that is alone, or was queried before, is probed less often, and so are kinds
 * with a list: that shows all of them.
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
