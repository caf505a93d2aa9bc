import type { KeptDurations } from '../../contract/state.ts';
import { type Distribution, estimate, smooth } from '../../plan/distribution.ts';
import { fitLogNormal, massesOf } from './log-normal.ts';

/** Weight of the fitted distribution, in jobs. */
const fittedJobs = 6;
const mostSamples = 300;
/** Number of running jobs above which the last so many to end say little about the others. */
const manyRunning = 4 * mostSamples;
const mostKept = 100;
/**
 * Number of jobs of earlier runs from which a distribution counts as well known. The same number from this run would be
 * the short ones: long ones have not ended yet.
 */
const wellKnownJobs = 50;
/** Unless most of those that end, at least this many, take longer than nine in ten did before: a different service. */
const fewestSeen = 3;

/** Durations of the jobs of one kind and model. */
export class KnownDurations {
  /** Durations in ms, newest last. */
  samples: number[];
  /** One of so many finished jobs is a sample, so that all of them together go back as far as the running ones do. */
  #stride = 1;
  readonly #typicalMs: number;
  readonly #kept: number;
  #distribution: Distribution;
  #learned = 0;
  #seen = 0;
  #late = 0;
  readonly #usualMs: number;
  #isProbed = false;

  constructor(typicalMs: number, samples: readonly number[] = []) {
    this.samples = [...samples];
    this.#typicalMs = typicalMs;
    this.#kept = samples.length;
    this.#distribution = this.#estimate([]);
    this.#usualMs = this.#distribution.quantile(0.9);
  }

  get distribution(): Distribution {
    return this.#distribution;
  }

  /** True when enough jobs were seen, in earlier runs or in a long one, to query often around the expected end. */
  get isWellKnown(): boolean {
    if (this.#seen >= fewestSeen && this.#late * 2 > this.#seen) return false;
    return this.#kept >= wellKnownJobs || this.#kept + this.#seen >= mostSamples;
  }

  /** True when this job is to be the first one queried often, so that the others need not be. */
  wantsProbe(): boolean {
    if (this.samples.length >= 2 || this.#isProbed) return false;
    this.#isProbed = true;
    return true;
  }

  /** Number of finished jobs that took longer. */
  countAbove(ms: number): number {
    return this.samples.reduce((count, sample) => (sample > ms ? count + 1 : count), 0);
  }

  learn(ms: number): void {
    this.#learned += 1;
    this.#seen += 1;
    if (this.#seen % this.#stride === 0) this.samples.push(ms);
    if (this.samples.length > mostSamples) this.samples.shift();
    if (ms > this.#usualMs) this.#late += 1;
  }

  /** True when enough is new: thousands of jobs must not each cost a pass over all the others. */
  get isStale(): boolean {
    return this.#learned > 0 && this.#learned * 10 >= Math.min(this.#seen, 1000);
  }

  /** `running`: ages at which unfinished jobs were last queried. */
  refresh(running: readonly number[]): void {
    this.#learned = 0;
    if (this.#stride > 1 && this.#stride * mostSamples >= 2 * running.length) this.#stride /= 2;
    const wanted = running.length > manyRunning ? running.length / mostSamples : 1;
    while (this.samples.length >= mostSamples && this.#stride < wanted) {
      this.#stride *= 2;
      this.samples = everyNth(this.samples, 2);
    }
    this.#distribution = this.#estimate(everyNth(running, this.#stride));
  }

  #estimate(running: readonly number[]): Distribution {
    const fitted = massesOf(fitLogNormal(this.#typicalMs, this.samples), fittedJobs);
    return estimate([...fitted, ...smooth(this.samples)], running);
  }
}

/** Known durations, across runs. */
export class Durations {
  readonly #kept: KeptDurations;
  readonly #known = new Map<string, KnownDurations>();

  constructor(kept: KeptDurations = {}) {
    this.#kept = kept;
  }

  of(job: { kind: string; model?: string | undefined; typicalMs: number }): KnownDurations {
    const name = job.model === undefined ? job.kind : `${job.kind} ${job.model}`;
    let known = this.#known.get(name);
    if (known === undefined) {
      known = new KnownDurations(job.typicalMs, Object.hasOwn(this.#kept, name) ? this.#kept[name] : []);
      this.#known.set(name, known);
    }
    return known;
  }

  /** Returns what is to be kept for the next run. */
  keep(): KeptDurations {
    const kept: KeptDurations = { ...this.#kept };
    for (const [name, { samples }] of this.#known) {
      if (samples.length > 0) kept[name] = samples.slice(-mostKept).map(Math.round);
    }
    return kept;
  }
}

function everyNth(values: readonly number[], n: number): number[] {
  return values.filter((_, index) => index % n === 0);
}
