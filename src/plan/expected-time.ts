import { kinds } from '../kinds/index.ts';
import { isSpending, waitsFor } from './actions.ts';
import type { PlanRow, PlanTotals } from './plan.ts';

/** Of finished jobs, in ms, by kind and model. */
type Durations = { readonly [kindAndModel: string]: readonly number[] };

/** Enough for a range that does not jump, and done in a few ms. */
const mostDraws = 48;
const mostSteps = 100_000;
/** Larger plans end when their work is done, whatever the order. */
const mostSimulated = 5000;

/**
 * Expects how long a plan takes: its steps are scheduled as a run would, with durations of earlier jobs. One run in
 * five is quicker than the answer, one is slower. Nothing is expected of a plan with a kind and model
 * that was never timed.
 */
export function expectTime(
  rows: readonly PlanRow[],
  { concurrency, durations }: { concurrency: number; durations: Durations },
): Pick<PlanTotals, 'expected' | 'untimed'> {
  const jobs = jobsOf(rows);
  if (jobs.length === 0) return {};
  const samplesOf = ({ kind, timedAs }: Job) => {
    const seen = durations[timedAs] ?? [];
    // Uploads and posts take seconds, whether or not one was timed.
    return seen.length === 0 && kinds[kind]?.media === 'none' ? [kinds[kind].typicalMs] : seen;
  };
  const untimed = new Set(jobs.filter((job) => samplesOf(job).length === 0).map(({ timedAs }) => timedAs));
  if (untimed.size > 0) return { untimed: [...untimed].sort() };
  const draws = Math.max(4, Math.min(mostDraws, Math.floor(mostSteps / jobs.length)));
  const lengths = Array.from({ length: draws }, (_, draw) => {
    const lengthOf = (job: Job, index: number) => pick(samplesOf(job), index, (draw + 0.5) / draws);
    return jobs.length > mostSimulated
      ? jobs.reduce((sum, job, index) => sum + lengthOf(job, index), 0) / concurrency
      : schedule(jobs, concurrency, lengthOf);
  }).sort((a, b) => a - b);
  const at = (share: number) => Math.round(lengths[Math.floor(share * (draws - 1))] ?? 0);
  return { expected: { lowMs: at(0.2), highMs: at(0.8) } };
}

interface Job {
  kind: string;
  /** The kind and model under which its duration is kept. */
  timedAs: string;
  /** Positions of the jobs that must end before it. */
  after: number[];
}

function jobsOf(rows: readonly PlanRow[]): Job[] {
  const positions = new Map<string, number>();
  const jobs: Job[] = [];
  for (const { address, kind, action, order } of rows) {
    if (order === undefined || !(isSpending(action) || action === 'attach')) continue;
    const { model } = order.paidRequest;
    const after = waitsFor(order).flatMap((need) => positions.get(need) ?? []);
    positions.set(address, jobs.length);
    jobs.push({ kind, timedAs: typeof model === 'string' ? `${kind} ${model}` : kind, after });
  }
  return jobs;
}

/** A sample that is the same in every run: an even spread over the samples, shifted by the draw. */
function pick(samples: readonly number[], index: number, draw: number): number {
  const spread = (index * 0.618_033_988_75 + draw * 7.389) % 1;
  return samples[Math.floor(spread * samples.length)] ?? 0;
}

/** Ends of jobs that run `concurrency` at a time, each as soon as those before it have ended: the last one, in ms. */
function schedule(jobs: readonly Job[], concurrency: number, lengthOf: (job: Job, index: number) => number): number {
  const missing = jobs.map(({ after }) => after.length);
  const followers: number[][] = jobs.map(() => []);
  for (const [index, { after }] of jobs.entries()) for (const before of after) followers[before]?.push(index);
  const ready = jobs.flatMap((_, index) => (missing[index] === 0 ? [index] : []));
  const running: { end: number; index: number }[] = [];
  let now = 0;
  for (let next = 0; next < ready.length || running.length > 0; ) {
    if (next < ready.length && running.length < concurrency) {
      const index = ready[next] ?? 0;
      next += 1;
      const job = jobs[index];
      if (job !== undefined) insert(running, { end: now + lengthOf(job, index), index });
      continue;
    }
    const done = running.pop();
    if (done === undefined) break;
    now = done.end;
    for (const follower of followers[done.index] ?? []) {
      const left = (missing[follower] ?? 0) - 1;
      missing[follower] = left;
      if (left === 0) ready.push(follower);
    }
  }
  return now;
}

/** Keeps the first to end last: there are at most as many as run at once. */
function insert(running: { end: number; index: number }[], job: { end: number; index: number }): void {
  let [low, high] = [0, running.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((running[middle]?.end ?? 0) > job.end) low = middle + 1;
    else high = middle;
  }
  running.splice(low, 0, job);
}
