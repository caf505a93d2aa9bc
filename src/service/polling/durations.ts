import type { KeptDurations } from '../../contract/ports.ts';

const mostSamples = 100;
/** Minimum number of known durations above a running job's age. Fewer durations predict the job's end badly. */
const fewLonger = 4;
/**
 * Longest time between two queries of a job that has run longer than nearly all known durations, as a share of its age.
 */
const mostGapShare = 1 / 5;
/** If few durations are known, each also counts multiplied by these factors, because other jobs take a similar time. */
const spreads = [0.8, 1, 1.25];

export class KnownDurations {
  /** Newest last. */
  readonly samples: number[];
  #sorted: readonly number[] = [];
  readonly #typicalMs: number;

  constructor(typicalMs: number, samples: readonly number[] = []) {
    this.samples = samples.slice(-mostSamples);
    this.#typicalMs = typicalMs;
    this.#sort();
  }

  get medianMs(): number {
    return this.#sorted[this.#sorted.length >> 1] ?? this.#typicalMs;
  }

  learn(ms: number): void {
    this.samples.push(ms);
    if (this.samples.length > mostSamples) this.samples.shift();
    this.#sort();
  }

  #sort(): void {
    const isFew = this.samples.length < mostSamples / 5;
    const all = isFew ? this.samples.flatMap((ms) => spreads.map((spread) => ms * spread)) : [...this.samples];
    this.#sorted = all.sort((a, b) => a - b);
  }

  /**
   * Returns the age in ms at which to query a job that was still running at age `last`. At that age, a job that takes
   * one of the known durations above `last` has been finished for `thresholdMs` on average.
   */
  nextAge(last: number, thresholdMs: number): number {
    const from = this.#sorted.findIndex((ms) => ms > last);
    const longer = from === -1 ? 0 : this.#sorted.length - from;
    // If few known durations are longer than `last`, the wait grows with the age of the job.
    if (longer === 0 || (longer < fewLonger && last > 0)) {
      const age = Math.max(0, last);
      return age + Math.min(age * mostGapShare, Math.sqrt(age * thresholdMs));
    }
    const wanted = thresholdMs * longer;
    let sum = 0;
    for (let ended = 0; ended < longer; ended += 1) {
      const ms = this.#sorted[from + ended] ?? 0;
      if (ms * ended - sum >= wanted) return (wanted + sum) / ended;
      sum += ms;
    }
    return (wanted + sum) / longer;
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
    const kept = Object.hasOwn(this.#kept, name) ? this.#kept[name] : [];
    const known = this.#known.get(name) ?? new KnownDurations(job.typicalMs, kept);
    this.#known.set(name, known);
    return known;
  }

  keep(): KeptDurations {
    const kept: KeptDurations = { ...this.#kept };
    for (const [name, { samples }] of this.#known) if (samples.length > 0) kept[name] = samples.map(Math.round);
    return kept;
  }
}
