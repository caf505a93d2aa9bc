import type { KeptDurations } from '../../contract/state.ts';
import { type Distribution, estimate, smooth } from './distribution.ts';
import { fitLogNormal, massesOf } from './log-normal.ts';

/** What is fitted to what was seen counts as much as so many jobs. */
const fittedJobs = 6;
const mostSamples = 300;
const mostKept = 100;
/**
 * With so many jobs of earlier runs a distribution counts as known well. As many of this run would be the short ones: those
 * that take long have not ended yet.
 */
const wellKnownJobs = 50;
/** Unless most of those that end, of so many at least, take longer than nine in ten did before: then it is another service. */
const fewestSeen = 3;

/** Durations of the jobs of one kind and model. */
export class KnownDurations {
  /** In ms, the newest last. */
  readonly samples: number[];
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

  /** Enough jobs were seen, in earlier runs or in a long one, to look often where the end is expected. */
  get isWellKnown(): boolean {
    if (this.#seen >= fewestSeen && this.#late * 2 > this.#seen) return false;
    return this.#kept >= wellKnownJobs || this.samples.length >= mostSamples;
  }

  /** Whether this job is to be the first that is looked at often, so that the others need not be. */
  wantsProbe(): boolean {
    if (this.samples.length >= 2 || this.#isProbed) return false;
    this.#isProbed = true;
    return true;
  }

  /** How many finished jobs took longer. */
  countAbove(ms: number): number {
    return this.samples.reduce((count, sample) => (sample > ms ? count + 1 : count), 0);
  }

  learn(ms: number): void {
    this.samples.push(ms);
    if (this.samples.length > mostSamples) this.samples.shift();
    this.#learned += 1;
    this.#seen += 1;
    if (ms > this.#usualMs) this.#late += 1;
  }

  /** Whether enough is new: thousands of jobs must not each cost a look at all the others. */
  get isStale(): boolean {
    return this.#learned > 0 && this.#learned * 10 >= Math.min(this.#seen, 1000);
  }

  /** `running`: ages at which jobs that have not ended were last looked at. */
  refresh(running: readonly number[]): void {
    this.#learned = 0;
    this.#distribution = this.#estimate(running);
  }

  #estimate(running: readonly number[]): Distribution {
    const fitted = massesOf(fitLogNormal(this.#typicalMs, this.samples), fittedJobs);
    return estimate([...fitted, ...smooth(this.samples)], running);
  }
}

/** All that is known of durations, over runs. */
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

  /** For the next run. */
  keep(): KeptDurations {
    const kept: KeptDurations = { ...this.#kept };
    for (const [name, { samples }] of this.#known) {
      if (samples.length > 0) kept[name] = samples.slice(-mostKept).map(Math.round);
    }
    return kept;
  }
}
