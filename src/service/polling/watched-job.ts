import type { Json } from '../../json.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HttpAnswer } from '../http.ts';
import type { KnownDurations } from './durations.ts';

/** A job that somebody waits for. Ages are in ms since it was made, as far as that is known. */
export interface WatchedJob {
  readonly kind: Kind;
  readonly jobId: string;
  readonly known: KnownDurations;
  /** How much more than its own result hangs on this job: 1 or more. */
  readonly urgency: () => number;
  /** Which of its kind it is in this run: later ones stand before it in lists. */
  readonly number: number;
  readonly fresh: boolean;
  /** Its own number in [0, 1): jobs that are alike are not all looked at together. */
  readonly luck: number;
  /** Is next in the looks that find out how long such jobs take at all. */
  isProbe: boolean;
  /** The age at which another job was the last to be probed; -1: none was. */
  probedAge: number;
  /** Ms since 1970. Moved when the service tells. */
  startedAt: number;
  /** At the last look that could be relied on; undefined before the first. */
  lastAge: number | undefined;
  /** At the last list that showed it as not over. */
  listAge: number | undefined;
  /** At the last look at it alone, whatever the answer was. */
  askedAge: number | undefined;
  /** How often in turn its list did not show it. */
  missing: number;
  /** Not before this, ms since 1970: the service asked for it, or gave no usable answer. */
  notBefore: number;
  /** Its place among those that wait is only true with this number. */
  turn: number;
  /** When its turn comes, ms since 1970, as far as it was known when it was queued. */
  queuedAt: number;
  waiter: Waiter | undefined;
  /** A status call is on the wire. */
  isAsked: boolean;
}

interface Waiter {
  path: string;
  signal: AbortSignal;
  resolve(answer: HttpAnswer | undefined): void;
}

const ceilingMs = 60_000;
const stragglerFloorMs = 10_000;
const leastProbeGapMs = 150;
const fewSamples = 3;
/** With fewer samples looks are spread: each of them tells whether the others are in time. */
const spreadUpTo = 20;
const mostSpread = 0.8;

/** When to look at a job by itself, ms since 1970. `listed`: its kind's list tells of it, and can be relied on. */
export function dueAt(
  job: WatchedJob,
  { fixedMs, listed }: { fixedMs: number | undefined; listed: boolean },
): number {
  const { askedAge, startedAt, known } = job;
  const at = (age: number) => Math.max(job.notBefore, startedAt + age);
  const notBeen = (gapMs: number) => (askedAge === undefined ? 0 : askedAge + gapMs);
  if (fixedMs !== undefined) return at(askedAge === undefined ? fixedMs : askedAge + fixedMs);
  if (job.missing >= 2) return at(notBeen(stragglerFloorMs));
  if (listed) return at(Math.max(known.distribution.quantile(0.99), notBeen(stragglerFloorMs)));
  // Not yet looked at is not the same as looked at when it was made: jobs may take no time at all.
  const last = job.lastAge ?? -1;
  const { length: seen } = known.samples;
  if (job.isProbe && seen < 2) return at(Math.max(probeAge(job), notBeen(leastProbeGapMs)));
  const isGuess = seen === 0;
  const floorMs = known.floorMs * (isGuess ? 0.9 + job.luck / 5 : 1);
  const least = isGuess ? Math.max(floorMs, notBeen(floorMs)) : notBeen(floorMs);
  const worthMs = known.worthMs / job.urgency();
  // Where hardly any job is known that took longer, about as many end in each doubling of the age.
  const isUncharted = !isGuess && last > 0 && known.countAbove(last) < fewSamples;
  const explored = isUncharted ? last + Math.min(last / 5, Math.sqrt(last * worthMs)) : Number.POSITIVE_INFINITY;
  const due = Math.min(known.distribution.dueAge(last, worthMs), explored, last + ceilingMs);
  const spread = mostSpread * Math.max(0, 1 - seen / spreadUpTo) * job.luck;
  return at(Math.max(due + spread * (due - Math.max(0, last)), least));
}

/** One job after the other is probed at growing ages; who is alone, or was looked at before, less often. */
function probeAge({ lastAge, probedAge, known }: WatchedJob): number {
  const last = Math.max(lastAge ?? -1, probedAge);
  if (last <= 0) return last + 30;
  const gap = lastAge === undefined ? Math.max(leastProbeGapMs / 2, last / 10) : Math.max(leastProbeGapMs, last / 3);
  return last + Math.min(gap, Math.max(2000, known.distribution.quantile(0.5) / 8));
}

/** What waiting on is worth more than nothing, for choosing among many: expected undetected ms, weighted. */
export function gainOf(job: WatchedJob, age: number, last: number): number {
  return job.urgency() * job.known.distribution.undetected(last, age);
}

/** How long a job took that was seen to be over at `age`, and was not at `before`, both in ms. */
export function tookMs(data: { [key: string]: Json }, age: number, before: number | undefined): number {
  const served = servedMs(data);
  // A clock that runs at another pace says nothing.
  if (served !== undefined && served <= age + 5000) return served;
  return before === undefined ? age : (before + age) / 2;
}

/** How long a finished job took by the service's own clock, in ms; undefined when it does not say well enough. */
function servedMs(data: { [key: string]: Json }): number | undefined {
  const { createdAt, completedAt } = data;
  if (typeof createdAt !== 'string' || typeof completedAt !== 'string') return undefined;
  const [from, to] = [Date.parse(createdAt), Date.parse(completedAt)];
  if (Number.isNaN(from) || Number.isNaN(to) || to < from) return undefined;
  // Times in whole seconds say too little about a short job.
  const isCoarse = from % 1000 === 0 && to % 1000 === 0;
  return isCoarse && to - from < 20_000 ? undefined : to - from;
}
