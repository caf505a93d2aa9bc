import { type DurationTable, normalAt, remainingOf } from './duration-table.ts';
import { NumberHeap } from './number-heap.ts';

/** A step that has not ended. */
export interface OpenStep {
  /** Position of its timing. */
  timing: number;
  /** Positions of the open steps that must end before it begins. */
  after: readonly number[];
  /** How long its job has been under way, in ms, or since it was over. Absent: it has none. */
  ageMs?: number;
  /** Its job is over, and it holds no slot: what is left is to save its file. */
  isSaving?: true;
}

/** What is known of steps of one kind and model. */
export interface Timing {
  jobs: DurationTable;
  /** From the beginning of a step until it has a job, in ms. */
  startMs: number;
  /** From the end of the job until the step has ended, in ms. */
  saveMs: number;
  /** Share of the jobs that fail, with all that needs them. */
  failShare: number;
}

export interface Simulation {
  timings: readonly Timing[];
  /** Jobs that run at once. */
  slots: number;
  draws: number;
  /** Groups of steps: a draw ends when every step of one of them has ended. Absent: when all steps have. */
  groups?: readonly (readonly number[])[];
}

/** Above so many, most steps count with the mean of their class, and only the last ones are scheduled. */
const mostScheduled = 400;
/** They must fill the slots a few times over, so that the last ones show how a run fades out. */
const leastRounds = 4;

/**
 * Schedules open steps as a run does, longest chains first, and gives the ends of the draws in ms from now, ascending.
 * The same input gives the same answer.
 */
export function simulateEnds(steps: readonly OpenStep[], simulation: Simulation): Float64Array {
  const heights = measureHeights(steps);
  const queue = steps
    .flatMap((step, index) => (step.ageMs === undefined && step.isSaving === undefined ? [index] : []))
    .sort((a, b) => (heights[b] ?? 0) - (heights[a] ?? 0) || a - b);
  const most = Math.max(mostScheduled, leastRounds * simulation.slots);
  const surplus = Math.max(0, queue.length - most);
  const isToGroup = simulation.groups !== undefined;
  // To the first group it is the first steps that count, to the end the last ones.
  const bulk = isToGroup ? [] : queue.slice(0, surplus);
  const kept = isToGroup ? queue.slice(0, most) : queue.slice(surplus);
  const under = steps.flatMap((step, index) =>
    step.ageMs !== undefined || step.isSaving !== undefined ? [index] : [],
  );
  const schedule = new Schedule(steps, { ...simulation, under, queue: kept });
  const work = new BulkWork(bulk, steps, simulation);
  const ends = new Float64Array(simulation.draws);
  for (let draw = 0; draw < simulation.draws; draw += 1) ends[draw] = schedule.draw(draw) + work.draw(schedule.scales);
  return ends.sort();
}

/** Length of the longest chain of steps that wait for each, directly or not. Steps come after what they wait for. */
function measureHeights(steps: readonly OpenStep[]): Uint32Array {
  const heights = new Uint32Array(steps.length);
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const next = (heights[index] ?? 0) + 1;
    for (const need of steps[index]?.after ?? []) if ((heights[need] ?? 0) < next) heights[need] = next;
  }
  return heights;
}

/** Steps of which only the sum counts: while they run, every slot is taken. */
class BulkWork {
  /** Of all steps of each timing, in ms. */
  readonly #sums: number[];
  readonly #slots: number;
  readonly #chainMs: number;

  constructor(bulk: readonly number[], steps: readonly OpenStep[], { timings, slots }: Simulation) {
    const means = timings.map(({ jobs, startMs }) => startMs + jobs.meanMs);
    const reached = new Map<number, number>();
    this.#slots = slots;
    this.#sums = timings.map(() => 0);
    let longest = 0;
    for (const index of bulk) {
      const { timing = 0, after = [] } = steps[index] ?? {};
      const mean = means[timing] ?? 0;
      this.#sums[timing] = (this.#sums[timing] ?? 0) + mean;
      const ends = mean + after.reduce((latest, need) => Math.max(latest, reached.get(need) ?? 0), 0);
      reached.set(index, ends);
      longest = Math.max(longest, ends);
    }
    this.#chainMs = longest;
  }

  draw(scales: Float64Array): number {
    const total = this.#sums.reduce((all, sum, timing) => all + sum * (scales[timing] ?? 1), 0);
    return Math.max(total / this.#slots, this.#chainMs);
  }
}

/** One list schedule after the other, in the same memory. */
class Schedule {
  /** Of the current draw: how much slower each kind and model is than was seen. */
  readonly scales: Float64Array;
  readonly #steps: readonly OpenStep[];
  readonly #timings: readonly Timing[];
  readonly #slots: number;
  readonly #under: readonly number[];
  readonly #queue: readonly number[];
  /** Dependents of each step, one list after the other. */
  readonly #dependents: Int32Array;
  readonly #dependentsFrom: Int32Array;
  readonly #missingAtFirst: Int32Array;
  readonly #missing: Int32Array;
  readonly #placeOf: Int32Array;
  readonly #groupOf: Int32Array;
  readonly #groupSizes: readonly number[];
  #groupLeft: number[] = [];
  readonly #events: NumberHeap;
  /** Steps that others have let go, by their place in the queue. */
  readonly #freed: NumberHeap;
  #random = 1;

  constructor(
    steps: readonly OpenStep[],
    options: Simulation & { under: readonly number[]; queue: readonly number[] },
  ) {
    const { timings, slots, groups = [], under, queue } = options;
    this.#steps = steps;
    this.#timings = timings;
    this.#slots = slots;
    this.#under = under;
    this.#queue = queue;
    this.scales = new Float64Array(timings.length);
    const { length } = steps;
    const isIn = new Uint8Array(length);
    for (const index of under) isIn[index] = 1;
    for (const index of queue) isIn[index] = 1;
    this.#missingAtFirst = new Int32Array(length);
    this.#missing = new Int32Array(length);
    this.#dependentsFrom = new Int32Array(length + 1);
    const needsOf = (index: number) => (steps[index]?.after ?? []).filter((need) => isIn[need] === 1);
    for (const index of queue) {
      const needs = needsOf(index);
      this.#missingAtFirst[index] = needs.length;
      for (const need of needs) this.#dependentsFrom[need + 1] = (this.#dependentsFrom[need + 1] ?? 0) + 1;
    }
    for (let index = 0; index < length; index += 1)
      this.#dependentsFrom[index + 1] = (this.#dependentsFrom[index + 1] ?? 0) + (this.#dependentsFrom[index] ?? 0);
    this.#dependents = new Int32Array(this.#dependentsFrom[length] ?? 0);
    const fill = this.#dependentsFrom.slice();
    for (const index of queue) {
      for (const need of needsOf(index)) {
        const at = fill[need] ?? 0;
        this.#dependents[at] = index;
        fill[need] = at + 1;
      }
    }
    this.#placeOf = new Int32Array(length);
    for (const [place, index] of queue.entries()) this.#placeOf[index] = place;
    this.#groupOf = new Int32Array(length).fill(-1);
    for (const [group, members] of groups.entries()) for (const index of members) this.#groupOf[index] = group;
    this.#groupSizes = groups.map((members) => members.length);
    this.#events = new NumberHeap(length + under.length);
    this.#freed = new NumberHeap(queue.length);
  }

  /** End of one draw, in ms from now. */
  draw(number: number): number {
    this.#random = (0x9e3779b9 ^ Math.imul(number + 1, 0x85ebca6b)) | 1;
    for (const [timing, { jobs }] of this.#timings.entries()) {
      this.scales[timing] = Math.exp(jobs.doubt * normalAt(Math.min(0.999, Math.max(0.001, this.#next()))));
    }
    this.#missing.set(this.#missingAtFirst);
    this.#groupLeft = [...this.#groupSizes];
    this.#events.clear();
    this.#freed.clear();
    return this.#run(this.#begin());
  }

  /** Puts what is under way on its way, and gives the number of slots that it leaves. */
  #begin(): number {
    let free = this.#slots;
    for (const index of this.#under) {
      const { isSaving, ageMs = 0 } = this.#stepAt(index);
      const { jobs, saveMs, startMs } = this.#timingOf(index);
      if (isSaving) {
        // One that takes longer than others may still be waiting for its turn.
        const left = Math.max(saveMs - ageMs, saveMs / 4);
        this.#events.push(left * 2 * this.#next(), this.#savedId(index));
        continue;
      }
      free -= 1;
      const scale = this.scales[this.#stepAt(index).timing] ?? 1;
      const left = remainingOf(jobs, ageMs / scale, this.#next()) * scale;
      this.#events.push(ageMs === 0 ? startMs + left : left, index);
    }
    return free;
  }

  #run(freeAtFirst: number): number {
    const { length } = this.#steps;
    let free = freeAtFirst;
    let head = 0;
    let now = 0;
    let end = 0;
    for (;;) {
      for (; free > 0; free -= 1) {
        while (head < this.#queue.length && (this.#missingAtFirst[this.#queue[head] ?? 0] ?? 0) > 0) head += 1;
        const fresh = this.#freed.first;
        const isFresh = fresh !== -1 && (head >= this.#queue.length || (this.#placeOf[fresh] ?? 0) < head);
        const index = isFresh ? this.#freed.pop() : this.#queue[head];
        if (index === undefined || index === -1) break;
        if (!isFresh) head += 1;
        this.#events.push(now + this.#drawJob(index), index);
      }
      now = this.#events.firstAt;
      const id = this.#events.pop();
      if (id === -1) return end;
      end = Math.max(end, now);
      if (id >= length) {
        if (this.#release(id - length)) return now;
        continue;
      }
      free += 1;
      const { saveMs, failShare } = this.#timingOf(id);
      if (failShare > 0 && this.#next() < failShare) continue;
      // Most steps let nobody go: then nothing happens between.
      if (this.#dependentsFrom[id] === this.#dependentsFrom[id + 1] && this.#groupOf[id] === -1) {
        end = Math.max(end, now + saveMs);
      } else this.#events.push(now + saveMs, this.#savedId(id));
    }
  }

  /** A step has ended well: lets others go. True when a group is complete. */
  #release(index: number): boolean {
    const to = this.#dependentsFrom[index + 1] ?? 0;
    for (let at = this.#dependentsFrom[index] ?? 0; at < to; at += 1) {
      const dependent = this.#dependents[at] ?? 0;
      const missing = (this.#missing[dependent] ?? 0) - 1;
      this.#missing[dependent] = missing;
      if (missing === 0) this.#freed.push(this.#placeOf[dependent] ?? 0, dependent);
    }
    const group = this.#groupOf[index] ?? -1;
    if (group === -1) return false;
    const left = (this.#groupLeft[group] ?? 0) - 1;
    this.#groupLeft[group] = left;
    return left === 0;
  }

  #drawJob(index: number): number {
    const { timing } = this.#stepAt(index);
    const { jobs, startMs } = this.#timingOf(index);
    const { quantiles } = jobs;
    return startMs + (quantiles[Math.floor(this.#next() * quantiles.length)] ?? 0) * (this.scales[timing] ?? 1);
  }

  #savedId(index: number): number {
    return this.#steps.length + index;
  }

  #stepAt(index: number): OpenStep {
    return this.#steps[index] ?? noStep;
  }

  #timingOf(index: number): Timing {
    return this.#timings[this.#stepAt(index).timing] ?? noTiming;
  }

  /** In [0, 1): xorshift. */
  #next(): number {
    let bits = this.#random;
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    this.#random = bits;
    return (bits >>> 0) / 4_294_967_296;
  }
}

const noStep: OpenStep = { timing: 0, after: [] };
const noTiming: Timing = {
  jobs: { quantiles: new Float64Array([0]), meanMs: 0, doubt: 0, longestMs: 0 },
  startMs: 0,
  saveMs: 0,
  failShare: 0,
};
