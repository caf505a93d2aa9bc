import { Heap } from '../ground/heap.ts';
import { kinds } from '../kinds/index.ts';
import { isSpending, waitsFor } from './actions.ts';
import { asSeen, type Distribution, doubtOf, estimate } from './distribution.ts';
import type { PlanRow, PlanTotals, StepOrder } from './plan.ts';

/** Enough for a range that does not jump, and done in a few ms. */
const draws = 64;

/** A step that has not ended. */
export interface OpenStep {
  timing: Timing;
  /** Open steps that must end before it begins. */
  after: readonly OpenStep[];
  /** How long its job has been under way, in ms, or since it was over. Absent: it has none. */
  ageMs?: number;
  /** Its job is over, and it holds no slot: what is left is to save its file. */
  isSaving?: true;
}

/** Timing of steps of one kind and model, as far as it is known. */
export interface Timing {
  jobs: Distribution;
  /** How far all jobs may be off together: the standard deviation of the logarithm of their centre (`doubtOf`). */
  doubt: number;
  /** Time from the beginning of a step until it has a job, in ms. */
  startMs: number;
  /** Time from the end of the job until the step has ended, in ms. */
  saveMs: number;
  /** Share of the jobs that fail, with all that needs them. */
  failShare: number;
}

export interface Simulation {
  /** Jobs that run at once. */
  slots: number;
  draws: number;
  /** Groups of steps: a draw ends when every step of one of them has ended. Absent: when all steps have. */
  groups?: readonly (readonly OpenStep[])[];
}

/** The schedule that every draw goes through. */
interface Schedule {
  slots: number;
  underWay: readonly OpenStep[];
  /** Steps that wait, with their place in the order in which they begin as soon as what they need allows. */
  places: ReadonlyMap<OpenStep, number>;
  /** How many steps each waits for, and which steps wait for it. */
  needs: ReadonlyMap<OpenStep, number>;
  dependents: ReadonlyMap<OpenStep, readonly OpenStep[]>;
  groups: readonly (readonly OpenStep[])[];
}

/** How much slower the jobs of each timing are in one draw than was seen. */
type Scales = ReadonlyMap<Timing, number>;

/** Above so many, most steps count with the mean of their class, and only the last ones are scheduled. */
const mostScheduled = 400;
/** They must fill the slots a few times over, so that the last ones show how a run fades out. */
const leastRounds = 4;

/**
 * Schedules open steps as a run does, longest chains first, and gives the ends of the draws in ms from now, ascending.
 * `steps` come after what they wait for. The same input gives the same answer.
 */
export function simulateEnds(steps: readonly OpenStep[], { slots, draws, groups }: Simulation): number[] {
  const underWay = steps.filter(({ ageMs }) => ageMs !== undefined);
  const queue = longestChainsFirst(steps.filter(({ ageMs }) => ageMs === undefined));
  const most = Math.max(mostScheduled, leastRounds * slots);
  const surplus = Math.max(0, queue.length - most);
  // To the first group it is the first steps that count, to the end the last ones.
  const bulk = groups === undefined ? queue.slice(0, surplus) : [];
  const scheduled = groups === undefined ? queue.slice(surplus) : queue.slice(0, most);
  const places = new Map(scheduled.map((step, place) => [step, place]));
  const schedule = { slots, underWay, places, groups: groups ?? [], ...relate(underWay, scheduled) };
  const timings = [...new Set(steps.map(({ timing }) => timing))];
  const bulkMs = sumUp(bulk, slots);
  return Array.from({ length: draws }, (_, draw) => {
    const random = randomOf(draw);
    const scales = new Map(timings.map((timing) => [timing, drawScale(timing, random())]));
    return new Draw(schedule, scales, random).end() + bulkMs(scales);
  }).sort((a, b) => a - b);
}

/** Sorts steps by the length of the longest chain of steps that wait for each, directly or not. */
function longestChainsFirst(steps: readonly OpenStep[]): OpenStep[] {
  const heights = new Map<OpenStep, number>();
  const heightOf = (step: OpenStep) => heights.get(step) ?? 0;
  for (const step of steps.toReversed())
    for (const need of step.after) heights.set(need, Math.max(heightOf(need), heightOf(step) + 1));
  return steps.toSorted((a, b) => heightOf(b) - heightOf(a));
}

function relate(underWay: readonly OpenStep[], queue: readonly OpenStep[]): Pick<Schedule, 'needs' | 'dependents'> {
  const isIn = new Set([...underWay, ...queue]);
  const needs = new Map<OpenStep, number>();
  const dependents = new Map<OpenStep, OpenStep[]>();
  for (const step of queue) {
    for (const need of step.after) {
      if (!isIn.has(need)) continue;
      const others = dependents.get(need) ?? [];
      others.push(step);
      dependents.set(need, others);
      needs.set(step, (needs.get(step) ?? 0) + 1);
    }
  }
  return { needs, dependents };
}

/** Time of steps of which only the sum counts: while they run, every slot is taken. */
function sumUp(bulk: readonly OpenStep[], slots: number): (scales: Scales) => number {
  const sums = new Map<Timing, number>();
  const ends = new Map<OpenStep, number>();
  let chainMs = 0;
  for (const step of bulk) {
    const mean = step.timing.startMs + step.timing.jobs.meanMs;
    const end = mean + Math.max(0, ...step.after.map((need) => ends.get(need) ?? 0));
    sums.set(step.timing, (sums.get(step.timing) ?? 0) + mean);
    ends.set(step, end);
    chainMs = Math.max(chainMs, end);
  }
  return (scales) => {
    const total = [...sums].reduce((all, [timing, sum]) => all + sum * (scales.get(timing) ?? 1), 0);
    return Math.max(total / slots, chainMs);
  };
}

/** One list schedule. */
class Draw {
  readonly #schedule: Schedule;
  readonly #scales: Scales;
  readonly #random: () => number;
  readonly #missing: Map<OpenStep, number>;
  /** Steps of each group that have not ended well. */
  readonly #groups: readonly Set<OpenStep>[];
  /** Steps that wait for nothing but a slot, by their places. */
  readonly #ready = new Heap<OpenStep>();
  /** Jobs that end, and files that are saved. */
  readonly #ahead = new Heap<{ step: OpenStep; is: 'over' | 'saved' }>();

  constructor(schedule: Schedule, scales: Scales, random: () => number) {
    this.#schedule = schedule;
    this.#scales = scales;
    this.#random = random;
    this.#missing = new Map(schedule.needs);
    this.#groups = schedule.groups.map((members) => new Set(members));
    for (const [step, place] of schedule.places) if (!this.#missing.get(step)) this.#ready.push(place, step);
  }

  /** Returns the end, in ms from now. */
  end(): number {
    let free = this.#schedule.slots;
    for (const step of this.#schedule.underWay) {
      if (!step.isSaving) free -= 1;
      this.#ahead.push(this.#msLeft(step), { step, is: step.isSaving ? 'saved' : 'over' });
    }
    for (let now = 0; ; ) {
      for (; free > 0; free -= 1) {
        const step = this.#ready.pop();
        if (step === undefined) break;
        this.#ahead.push(now + this.#msLeft(step), { step, is: 'over' });
      }
      const at = this.#ahead.firstAt;
      const next = this.#ahead.pop();
      if (next === undefined) return now;
      now = at;
      const { step, is } = next;
      if (is === 'saved') {
        if (this.#letOthersGo(step)) return now;
        continue;
      }
      free += 1;
      const { saveMs, failShare } = step.timing;
      if (failShare === 0 || this.#random() >= failShare) this.#ahead.push(now + saveMs, { step, is: 'saved' });
    }
  }

  /** Time until its job is over or, if it is, its file is saved. */
  #msLeft({ timing: { jobs, startMs, saveMs }, timing, ageMs = 0, isSaving }: OpenStep): number {
    // One that takes longer than others may still be waiting for its turn.
    if (isSaving) return Math.max(saveMs - ageMs, saveMs / 4) * 2 * this.#random();
    const scale = this.#scales.get(timing) ?? 1;
    const left = jobs.remaining(ageMs / scale, this.#random()) * scale;
    return ageMs === 0 ? startMs + left : left;
  }

  /** A step has ended well. True when a group is complete. */
  #letOthersGo(step: OpenStep): boolean {
    for (const dependent of this.#schedule.dependents.get(step) ?? []) {
      const missing = (this.#missing.get(dependent) ?? 0) - 1;
      this.#missing.set(dependent, missing);
      if (missing === 0) this.#ready.push(this.#schedule.places.get(dependent) ?? 0, dependent);
    }
    return this.#groups.filter((members) => members.delete(step)).some(({ size }) => size === 0);
  }
}

function drawScale({ doubt }: Timing, chance: number): number {
  const share = Math.min(0.999, Math.max(0.001, chance));
  // Quantile of the normal distribution, to within a hundredth up to three deviations (Tukey's lambda).
  return Math.exp(doubt * 4.91 * (share ** 0.14 - (1 - share) ** 0.14));
}

/** Numbers in [0, 1), the same for each draw of a number (xorshift). */
function randomOf(draw: number): () => number {
  let bits = (0x9e3779b9 ^ Math.imul(draw + 1, 0x85ebca6b)) | 1;
  return () => {
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    return (bits >>> 0) / 4_294_967_296;
  };
}

/** Durations of finished jobs, in ms, by kind and model. */
export type Durations = { readonly [kindAndModel: string]: readonly number[] };

/**
 * Expects how long a plan takes: its steps are scheduled as a run would, with durations of earlier jobs. One run in
 * five is quicker than the answer, one is slower. Nothing is expected of a plan with a kind and model
 * that was never timed.
 */
export function expectTime(
  rows: readonly PlanRow[],
  { concurrency, durations }: { concurrency: number; durations: Durations },
): Pick<PlanTotals, 'expected' | 'untimed'> {
  const timings = new Map<string, Timing>();
  const steps = new Map<string, OpenStep>();
  const untimed: string[] = [];
  for (const { address, kind, action, order } of rows) {
    if (order === undefined || !(isSpending(action) || action === 'attach')) continue;
    const job = { kind, paidRequest: order.paidRequest };
    const name = timedAs(job);
    let timing = timings.get(name);
    if (timing === undefined) {
      const samples = samplesOf(job, durations);
      if (samples.length === 0) untimed.push(name);
      timing = { jobs: estimate(asSeen(samples)), doubt: doubtOf(samples), startMs: 0, saveMs: 0, failShare: 0 };
      timings.set(name, timing);
    }
    steps.set(address, { timing, after: waitsFor(order).flatMap((need) => steps.get(need) ?? []) });
  }
  if (steps.size === 0) return {};
  if (untimed.length > 0) return { untimed: untimed.sort() };
  return { expected: rangeOf(simulateEnds([...steps.values()], { slots: concurrency, draws })) };
}

/** The kind and model under which durations of its job are kept. */
export function timedAs({ kind, paidRequest: { model } }: Pick<StepOrder, 'kind' | 'paidRequest'>): string {
  return typeof model === 'string' ? `${kind} ${model}` : kind;
}

/** Durations of jobs like this one. Uploads and posts take seconds, whether or not one was timed. */
export function samplesOf(order: Pick<StepOrder, 'kind' | 'paidRequest'>, durations: Durations): readonly number[] {
  const seen = durations[timedAs(order)] ?? [];
  const kind = kinds[order.kind];
  return seen.length === 0 && kind?.media === 'none' ? [kind.typicalMs] : seen;
}

/** Returns the range that one run in five undercuts, and one exceeds. */
export function rangeOf(ends: readonly number[]): { lowMs: number; highMs: number } {
  const at = (share: number) => Math.round(ends[Math.floor(share * (ends.length - 1))] ?? 0);
  return { lowMs: at(0.2), highMs: at(0.8) };
}
