import type { KeptDurations } from '../../contract/ports.ts';

const mostSamples = 100;
/** Number of longer samples below which the samples predict little about a job that still runs. */
const fewLonger = 4;
/** Longest gap between two queries of a job that has run longer than nearly all others, as a share of its age. */
const mostGapShare = 1 / 5;
/** Factors by which a few samples are multiplied, because other jobs take about as long. */
const spreads = [0.8, 1, 1.25];

/** Durations of the jobs of one kind and model, in ms. */
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
   * Returns the age in ms at which to query a job that still ran at age `last`. Of the known jobs that took longer than
   * `last`, each has then been over for `thresholdMs` on average.
   */
  nextAge(last: number, thresholdMs: number): number {
    const from = this.#sorted.findIndex((ms) => ms > last);
    const longer = from === -1 ? 0 : this.#sorted.length - from;
    // With hardly any longer job, the same number of jobs is assumed to end in each doubling of the age.
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
    let known = this.#known.get(name);
    if (known === undefined) {
      known = new KnownDurations(job.typicalMs, Object.hasOwn(this.#kept, name) ? this.#kept[name] : []);
      this.#known.set(name, known);
    }
    return known;
  }

  keep(): KeptDurations {
    const kept: KeptDurations = { ...this.#kept };
    for (const [name, { samples }] of this.#known) if (samples.length > 0) kept[name] = samples.map(Math.round);
    return kept;
  }
}
