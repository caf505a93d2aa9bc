import { Heap } from '../ground/heap.ts';
import { kinds } from '../kinds/index.ts';
import { isSpending, waitsFor } from './actions.ts';
import type { PlanRow, PlanTotals, StepOrder } from './plan.ts';

/** Durations of finished jobs, in ms, by kind and model. */
export type Durations = { readonly [kindAndModel: string]: readonly number[] };

export interface OpenStep {
  /** Durations of similar steps in ms, ascending, at least one. One array for all steps of a kind and model. */
  samples: readonly number[];
  /** Open steps that must end before this one starts. They come before it in the list of steps. */
  after: readonly OpenStep[];
  /** Time since its job started, in ms. Omitted while it waits for a slot. */
  ageMs?: number;
  /** Time in ms of the longest chain of steps that starts with this one. `expectEnd` sets it. */
  chainMs?: number;
}

/**
 * Least number of steps to schedule one by one in each draw. Of the others only the total time counts, because they
 * fill every slot.
 */
const fewestScheduled = 200;
/** How often the scheduled steps fill the slots, so that the end of a run, when slots are idle, is simulated. */
const rounds = 4;
/** Maximum number of scheduled steps over all draws, which limits the computing time of an estimate. */
const mostWork = 5000;
const mostDraws = 32;
/** Spread between two runs beyond chance, because a service is faster on some days than on others. */
const daily = 0.1;
/** Time that a job older than every sample still takes on average, as a share of its age. */
const overtime = 0.3;

/**
 * Returns the range of time until all steps have ended: five runs of seven end in it. Draws durations from the samples
 * (bootstrap) and schedules the steps as a run does. The same input gives the same answer.
 */
export function expectEnd(steps: readonly OpenStep[], slots: number): { lowMs: number; highMs: number } {
  const { queue, longestMs } = longestChainsFirst(steps.filter(({ ageMs }) => ageMs === undefined));
  const most = Math.max(fewestScheduled, rounds * slots);
  const bulk = queue.slice(0, Math.max(0, queue.length - most));
  const running = steps.filter(({ ageMs }) => ageMs !== undefined);
  const schedule = { running, slots, ...relate(running, queue.slice(bulk.length)) };
  const counts = new Map<OpenStep['samples'], number>();
  for (const { samples } of steps) if (!counts.has(samples)) counts.set(samples, 0);
  for (const { samples } of bulk) counts.set(samples, (counts.get(samples) ?? 0) + 1);
  const draws = Math.max(8, Math.min(mostDraws, Math.floor(mostWork / (queue.length - bulk.length + 1))));
  const ends = Array.from({ length: draws }, (_, draw) => {
    const random = randomOf(draw);
    const scales = new Map([...counts.keys()].map((samples) => [samples, drawScale(samples, random)]));
    let bulkMs = 0;
    for (const [samples, count] of counts) bulkMs += count * meanOf(samples) * (scales.get(samples) ?? 1);
    const endMs = drawEnd(schedule, scales, random) + bulkMs / slots;
    return bulk.length === 0 ? endMs : Math.max(endMs, longestMs);
  }).sort((a, b) => a - b);
  const at = (share: number) => Math.round(ends[Math.floor(share * (draws - 1))] ?? 0);
  return { lowMs: at(1 / 7), highMs: at(6 / 7) };
}

function longestChainsFirst(queue: OpenStep[]): { queue: OpenStep[]; longestMs: number } {
  for (const step of queue) step.chainMs = 0;
  for (let index = queue.length - 1; index >= 0; index -= 1) {
    const step = queue[index];
    if (step === undefined) continue;
    step.chainMs = (step.chainMs ?? 0) + meanOf(step.samples);
    for (const need of step.after) need.chainMs = Math.max(need.chainMs ?? 0, step.chainMs);
  }
  queue.sort((a, b) => (b.chainMs ?? 0) - (a.chainMs ?? 0));
  return { queue, longestMs: queue[0]?.chainMs ?? 0 };
}

interface Schedule {
  slots: number;
  running: readonly OpenStep[];
  queue: readonly OpenStep[];
  needs: ReadonlyMap<OpenStep, number>;
  dependents: ReadonlyMap<OpenStep, readonly OpenStep[]>;
}

function relate(running: readonly OpenStep[], queue: readonly OpenStep[]): Omit<Schedule, 'slots' | 'running'> {
  const dependents = new Map<OpenStep, OpenStep[]>([...running, ...queue].map((step) => [step, []]));
  const needs = new Map<OpenStep, number>();
  for (const step of queue) {
    const known = step.after.filter((need) => dependents.get(need)?.push(step) !== undefined);
    needs.set(step, known.length);
  }
  return { queue, needs, dependents };
}

/** Returns the end of one schedule, in ms from now. */
function drawEnd(
  { running, queue, slots, needs, dependents }: Schedule,
  scales: ReadonlyMap<OpenStep['samples'], number>,
  random: () => number,
): number {
  const places = new Map(queue.map((step, place) => [step, place]));
  const missing = new Map(needs);
  const ready = new Heap<OpenStep, number>((a, b) => a - b);
  const ahead = new Heap<OpenStep, number>((a, b) => a - b);
  const leftOf = ({ samples, ageMs = 0 }: OpenStep) => {
    const scale = scales.get(samples) ?? 1;
    return remainingMs(samples, ageMs / scale, random()) * scale;
  };
  for (const step of running) ahead.push(leftOf(step), step);
  for (const [place, step] of queue.entries()) if (missing.get(step) === 0) ready.push(place, step);
  for (let free = slots - running.length, now = 0; ; ) {
    for (; free > 0 && ready.size > 0; free -= 1) {
      const step = ready.pop();
      if (step !== undefined) ahead.push(now + leftOf(step), step);
    }
    const at = ahead.firstAt;
    const ended = ahead.pop();
    if (ended === undefined) return now;
    now = at ?? now;
    free += 1;
    for (const step of dependents.get(ended) ?? []) {
      const left = (missing.get(step) ?? 0) - 1;
      missing.set(step, left);
      if (left === 0) ready.push(places.get(step) ?? 0, step);
    }
  }
}

/** Draws how much longer a job of this age takes. `chance`: in [0, 1). */
function remainingMs(samples: readonly number[], ageMs: number, chance: number): number {
  const from = ageMs === 0 ? 0 : countUpTo(samples, ageMs);
  const sample = samples[from + Math.floor(chance * (samples.length - from))];
  return sample === undefined ? Math.max(1, -overtime * ageMs * Math.log(1 - chance)) : sample - ageMs;
}

function countUpTo(samples: readonly number[], ms: number): number {
  const index = samples.findIndex((sample) => sample > ms);
  return index === -1 ? samples.length : index;
}

/**
 * Draws the factor between the mean duration of the coming jobs and that of the samples: with fewer samples it varies
 * more.
 */
function drawScale(samples: readonly number[], random: () => number): number {
  const mean = meanOf(samples);
  if (mean === 0 || samples[0] === samples.at(-1)) return 1;
  let sum = 0;
  for (let pick = 0; pick < samples.length; pick += 1) sum += samples[Math.floor(random() * samples.length)] ?? 0;
  return (sum / samples.length / mean) * (1 + daily * (2 * random() - 1));
}

const means = new WeakMap<readonly number[], number>();

function meanOf(samples: readonly number[]): number {
  const known = means.get(samples);
  if (known !== undefined) return known;
  const mean = samples.reduce((sum, ms) => sum + ms, 0) / samples.length;
  means.set(samples, mean);
  return mean;
}

/** Returns a generator of numbers in [0, 1) that is the same for the same `draw` (xorshift). */
function randomOf(draw: number): () => number {
  let bits = (0x9e3779b9 ^ Math.imul(draw + 1, 0x85ebca6b)) | 1;
  return () => {
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    return (bits >>> 0) / 4_294_967_296;
  };
}

/** Estimates how long a plan takes; no estimate if one of its kinds and models was never timed. */
export function expectTime(
  rows: readonly PlanRow[],
  { concurrency, durations }: { concurrency: number; durations: Durations },
): Pick<PlanTotals, 'expected' | 'untimed'> {
  const samples = new Map<string, readonly number[]>();
  const steps = new Map<string, OpenStep>();
  for (const { address, kind, action, order } of rows) {
    if (order === undefined || !(isSpending(action) || action === 'attach')) continue;
    const job = { kind, paidRequest: order.paidRequest };
    const name = timedAs(job);
    const known = samples.get(name) ?? samplesOf(job, durations).toSorted((a, b) => a - b);
    samples.set(name, known);
    steps.set(address, { samples: known, after: waitsFor(order).flatMap((need) => steps.get(need) ?? []) });
  }
  const untimed = [...samples].flatMap(([name, { length }]) => (length === 0 ? [name] : []));
  if (steps.size === 0) return {};
  return untimed.length > 0 ? { untimed: untimed.sort() } : { expected: expectEnd([...steps.values()], concurrency) };
}

export function timedAs({ kind, paidRequest: { model } }: Pick<StepOrder, 'kind' | 'paidRequest'>): string {
  return typeof model === 'string' ? `${kind} ${model}` : kind;
}

/** Returns durations of similar jobs. Uploads and posts take seconds, even if none was timed. */
export function samplesOf(order: Pick<StepOrder, 'kind' | 'paidRequest'>, durations: Durations): readonly number[] {
  const seen = durations[timedAs(order)] ?? [];
  const kind = kinds[order.kind];
  return seen.length === 0 && kind?.media === 'none' ? [kind.typicalMs] : seen;
}
