export interface Mass {
  ms: number;
  weight: number;
}

/**
 * Distribution of job durations, observed and assumed. Computes when the expected undetected time of a finished job
 * reaches a threshold.
 */
export class Distribution {
  readonly #ages: Float64Array;
  /** Prefix sums over the first n masses: weight, and weight times age. */
  readonly #weights: Float64Array;
  readonly #moments: Float64Array;

  constructor(masses: readonly Mass[]) {
    const sorted = [...masses].sort((a, b) => a.ms - b.ms);
    this.#ages = Float64Array.from(sorted, ({ ms }) => ms);
    this.#weights = new Float64Array(sorted.length + 1);
    this.#moments = new Float64Array(sorted.length + 1);
    for (const [index, { ms, weight }] of sorted.entries()) {
      this.#weights[index + 1] = (this.#weights[index] ?? 0) + weight;
      this.#moments[index + 1] = (this.#moments[index] ?? 0) + weight * ms;
    }
  }

  /**
   * Returns the expected time in ms since the undetected end of a job of this age, if it was still running at age
   * `last`.
   */
  undetected(last: number, age: number): number {
    const from = this.#countUpTo(last);
    const left = this.#weightOf(from, this.#ages.length);
    if (left <= 0 || age <= last) return 0;
    const to = this.#countUpTo(age);
    return (age * this.#weightOf(from, to) - this.#momentOf(from, to)) / left;
  }

  /** Returns the age at which `undetected` reaches `threshold`; infinite if no known job took longer than `last`. */
  dueAge(last: number, threshold: number): number {
    const from = this.#countUpTo(last);
    const left = this.#weightOf(from, this.#ages.length);
    if (left <= 0) return Number.POSITIVE_INFINITY;
    const wanted = threshold * left;
    let low = from;
    let high = this.#ages.length;
    // Finds the first mass at whose age `undetected` exceeds the target: the result lies between the previous mass and
    // this one.
    while (low < high) {
      const middle = (low + high) >> 1;
      const age = this.#ages[middle] ?? 0;
      if (age * this.#weightOf(from, middle) - this.#momentOf(from, middle) >= wanted) high = middle;
      else low = middle + 1;
    }
    const weight = this.#weightOf(from, low);
    return weight <= 0 ? Number.POSITIVE_INFINITY : (wanted + this.#momentOf(from, low)) / weight;
  }

  quantile(share: number): number {
    const wanted = share * this.#weightOf(0, this.#ages.length);
    let low = 0;
    let high = this.#ages.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#weights[middle + 1] ?? 0) >= wanted) high = middle;
      else low = middle + 1;
    }
    return this.#ages[low] ?? 0;
  }

  #countUpTo(age: number): number {
    let low = 0;
    let high = this.#ages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ages[middle] ?? 0) <= age) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #weightOf(from: number, to: number): number {
    return (this.#weights[to] ?? 0) - (this.#weights[from] ?? 0);
  }

  #momentOf(from: number, to: number): number {
    return (this.#moments[to] ?? 0) - (this.#moments[from] ?? 0);
  }
}

/**
 * Estimates the distribution from finished jobs (`ended`, with weights) and from jobs that were still running when last
 * queried (`running`, ages): without the latter, the first jobs to end would make all seem fast. Product-limit estimate
 * (Kaplan and Meier 1958).
 */
export function estimate(ended: readonly Mass[], running: readonly number[] = []): Distribution {
  const sorted = [...ended].sort((a, b) => a.ms - b.ms);
  const looks = [...running].sort((a, b) => a - b);
  let atRisk = sorted.reduce((sum, { weight }) => sum + weight, 0) + looks.length;
  let survival = 1;
  let look = 0;
  const masses: Mass[] = [];
  for (const { ms, weight } of sorted) {
    while (look < looks.length && (looks[look] ?? 0) < ms) {
      look += 1;
      atRisk -= 1;
    }
    const share = atRisk <= 0 ? 1 : Math.min(1, weight / atRisk);
    masses.push({ ms, weight: survival * share });
    survival *= 1 - share;
    atRisk -= weight;
  }
  return new Distribution(masses);
}

/**
 * Smooths the samples slightly, because other jobs may take any time between two samples. Uses logarithms and
 * Silverman's bandwidth; samples that are all equal stay unchanged.
 */
export function smooth(samples: readonly number[]): Mass[] {
  const logs = samples.map((ms) => Math.log(ms + 1));
  const count = Math.max(1, logs.length);
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / count;
  const width = 1.06 * Math.sqrt(variance) * count ** -0.2;
  if (width < 0.01) return samples.map((ms) => ({ ms, weight: 1 }));
  const spread = width * Math.sqrt(1.5);
  return logs.flatMap((log) =>
    [-spread, 0, spread].map((off) => ({ ms: Math.max(0, Math.exp(log + off) - 1), weight: 1 / 3 })),
  );
}
