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
  /** Is looked at often, to find out how long such jobs take at all. */
  readonly isProbe: boolean;
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

/** When to look at a job by itself, ms since 1970. `listed`: its kind's list tells of it, and can be relied on. */
export function dueAt(
  job: WatchedJob,
  options: { fixedMs: number | undefined; listed: boolean; jitter: number },
): number {
  const { fixedMs, listed, jitter } = options;
  const { askedAge, startedAt, known } = job;
  const at = (age: number) => Math.max(job.notBefore, startedAt + age);
  const notBeen = (gapMs: number) => (askedAge === undefined ? 0 : askedAge + gapMs);
  if (fixedMs !== undefined) return at(askedAge === undefined ? fixedMs : askedAge + fixedMs);
  if (job.missing >= 2) return at(notBeen(stragglerFloorMs));
  if (listed) return at(Math.max(known.distribution.quantile(0.99), notBeen(stragglerFloorMs)));
  // Not yet looked at is not the same as looked at when it was made: jobs may take no time at all.
  const last = job.lastAge ?? -1;
  const isGuess = known.samples.length === 0;
  if (job.isProbe && known.samples.length < 2)
    return at(Math.max(last + probeGap(last, known), notBeen(leastProbeGapMs)));
  const floorMs = known.floorMs * (isGuess ? jitter : 1);
  const least = isGuess ? Math.max(floorMs, notBeen(floorMs)) : notBeen(floorMs);
  // Where hardly any job is known that took longer, the gaps grow with the age.
  const isUncharted = !isGuess && last > 0 && known.countAbove(last) < fewSamples;
  const explored = isUncharted ? last + Math.max(floorMs, last / 5) : Number.POSITIVE_INFINITY;
  const due = Math.min(known.distribution.dueAge(last, known.worthMs / job.urgency()), explored, last + ceilingMs);
  return at(Math.max(due, least));
}

/** From a twentieth of a second up to an eighth of what is typical, by a third of its age. */
function probeGap(last: number, { distribution }: KnownDurations): number {
  if (last <= 0) return 30;
  return Math.min(Math.max(leastProbeGapMs, last / 3), Math.max(2000, distribution.quantile(0.5) / 8));
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
