import { leastGapOf, thresholdOf } from './cost.ts';
import { leastProbeGapMs, probeAge } from './probe.ts';
import type { WatchedJob } from './watched-job.ts';

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
