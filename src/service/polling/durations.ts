import type { KeptDurations } from '../../contract/ports.ts';
import { type Distribution, estimate, type Mass, smooth } from './distribution.ts';

/** Weight of the fitted distribution, as a number of jobs. */
const fittedJobs = 6;
const mostSamples = 300;
/** Number of running jobs above which only the newest samples are not representative of the others. */
const manyRunning = 4 * mostSamples;
const mostKept = 100;
/**
 * Number of jobs of earlier runs from which a distribution counts as well known. Jobs of this run do not count alike,
 * because the first to end are the short ones.
 */
const wellKnownJobs = 50;
/**
 * Minimum number of ended jobs for noticing a changed service: the distribution no longer counts as well known if most
 * of them took longer than nine in ten did before.
 */
const fewestSeen = 3;

export class KnownDurations {
  /** Durations in ms, newest last. */
  samples: number[];
  /** Every n-th finished job becomes a sample, so that the samples reach back as far as the oldest running jobs. */
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

  /** True if enough jobs were seen, in earlier runs or in a long run, to query often around the expected end. */
  get isWellKnown(): boolean {
    if (this.#seen >= fewestSeen && this.#late * 2 > this.#seen) return false;
    return this.#kept >= wellKnownJobs || this.#kept + this.#seen >= mostSamples;
  }

  /** True if this job is to be the probe, which is queried often so that the others need not be. Returns true once. */
  wantsProbe(): boolean {
    if (this.samples.length >= 2 || this.#isProbed) return false;
    this.#isProbed = true;
    return true;
  }

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

  /**
   * True if enough samples are new for a refresh, so that not each of thousands of jobs causes a pass over all the
   * others.
   */
  get isStale(): boolean {
    return this.#learned > 0 && this.#learned * 10 >= Math.min(this.#seen, 1000);
  }

  /** Recomputes the distribution. `running`: ages at which unfinished jobs were last queried. */
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

/** Parameters of a log-normal distribution, over the logarithms of ms. */
interface LogNormal {
  mean: number;
  spread: number;
}

/** Assumed spread of the durations of one kind, and its weight as a number of jobs. */
const usualSpread = 0.5;
const usualSpreadJobs = 3;
/**
 * Weight of a kind's typical duration, as a number of jobs; low, because a service may be five times faster or slower.
 */
const typicalJobs = 0.2;

/**
 * Fits a log-normal distribution to finished jobs (in ms), starting from the typical duration. The result is wider than
 * the best fit by the uncertainty of its mean.
 */
function fitLogNormal(typicalMs: number, ended: readonly number[]): LogNormal {
  const count = ended.length;
  const logs = ended.map((ms) => Math.log(ms + 1));
  const sum = logs.reduce((total, log) => total + log, 0);
  const mean = (typicalJobs * Math.log(typicalMs + 1) + sum) / (typicalJobs + count);
  const squares = logs.reduce((total, log) => total + (log - mean) ** 2, 0);
  const variance = (usualSpreadJobs * usualSpread ** 2 + squares) / (usualSpreadJobs + count);
  return { mean, spread: Math.sqrt(variance * (1 + 1 / (typicalJobs + count))) };
}

function massesOf({ mean, spread }: LogNormal, weight: number): Mass[] {
  return scores.map((score) => ({
    ms: Math.max(0, Math.exp(mean + spread * score) - 1),
    weight: weight / scores.length,
  }));
}

/** Midpoints of equal shares of the standard normal distribution. */
const scores = [
  -2.13, -1.53, -1.21, -0.97, -0.78, -0.6, -0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45, 0.6, 0.78, 0.97, 1.21, 1.53, 2.13, 3,
];
