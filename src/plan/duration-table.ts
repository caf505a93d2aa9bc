/** How long the jobs of one kind and model take, as a simulation draws it. */
export interface DurationTable {
  /** Durations in ms, ascending, each as likely as the others. */
  quantiles: Float64Array;
  meanMs: number;
  /** Standard deviation of the logarithm of their centre: how far all of them may be off together. */
  doubt: number;
  /** Longest duration that was seen, in ms. */
  longestMs: number;
}

const size = 256;
/** Two runs differ by more than chance: a service has quicker days and slower ones. */
const daily = 0.05;
const shortestMs = 1;
const golden = 0.618_033_988_75;

/**
 * Makes a table of the durations of finished jobs, at least one, and the ages of those under way. A duration between
 * two samples is possible as well, so each is spread out by a little, without widening the whole. Those under way count
 * with a duration above their age: the first to finish are the short ones.
 */
export function tabulate(samples: readonly number[], ages: readonly number[] = []): DurationTable {
  const finished = spreadOut(samples);
  if (ages.length === 0) return finished;
  const imputed = ages.map((age, index) => remainingOf(finished, age, fraction(index * golden + 0.5)) + age);
  return { ...spreadOut([...samples, ...imputed]), longestMs: finished.longestMs };
}

/** How much longer a job takes that has taken `ageMs` so far; `chance` in [0, 1) picks among the possible ones. */
export function remainingOf({ quantiles }: DurationTable, ageMs: number, chance: number): number {
  const from = firstAbove(quantiles, ageMs);
  const above = quantiles.length - from;
  if (above > 0) return (quantiles[from + Math.floor(chance * above)] ?? 0) - ageMs;
  // Longer than any: the longer something has taken, the longer it still takes.
  return Math.max(shortestMs, -0.3 * ageMs * Math.log(1 - chance));
}

function spreadOut(samples: readonly number[]): DurationTable {
  const logs = samples.map((ms) => Math.log(Math.max(shortestMs, ms)));
  const count = logs.length;
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / Math.max(1, count - 1);
  const deviation = Math.sqrt(variance);
  // Silverman's rule, and then drawn together again, so that the deviation stays what it is.
  const width = 0.9 * count ** -0.2;
  const shrink = 1 / Math.sqrt(1 + width ** 2);
  const quantiles = new Float64Array(size);
  for (let index = 0; index < size; index += 1) {
    const log = logs[Math.floor((index / size) * count)] ?? mean;
    quantiles[index] = Math.exp(
      mean + shrink * (log - mean + width * deviation * normalAt(fraction(index * golden + 0.5))),
    );
  }
  quantiles.sort();
  const doubt = deviation === 0 ? 0 : Math.sqrt(variance / count + daily ** 2);
  const meanMs = quantiles.reduce((sum, ms) => sum + ms, 0) / size;
  return { quantiles, meanMs, doubt, longestMs: samples.reduce((most, ms) => Math.max(most, ms), 0) };
}

function firstAbove(ascending: Float64Array, value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Quantile of the normal distribution for a share in (0, 1), to within a hundredth up to three deviations (Tukey's lambda). */
export function normalAt(share: number): number {
  return 4.91 * (share ** 0.14 - (1 - share) ** 0.14);
}

function fraction(value: number): number {
  return value - Math.floor(value);
}
