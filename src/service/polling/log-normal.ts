import type { Mass } from './distribution.ts';

/** Of the logarithms of ms. */
export interface LogNormal {
  mean: number;
  spread: number;
}

export interface Evidence {
  /** How long jobs took, in ms. */
  ended: readonly number[];
  /** Ages in ms at which jobs were not over. */
  running: readonly number[];
}

/** What is assumed of how much jobs of one kind differ, and the weight of that in jobs. */
const usualSpread = 0.5;
const usualSpreadJobs = 3;
/** The weight in jobs of what is said to be typical of a kind: any service may be five times as fast, or as slow. */
const typicalJobs = 0.2;
const rounds = 25;
/** Ages closer than this are one, in logarithms. */
const coarse = 1 / 16;

/**
 * The log-normal distribution that what was seen speaks for, starting from what is typical: expectation and maximization
 * over those that still run (Dempster, Laird and Rubin 1977). Wider than the best fit by as much as its mean is in doubt.
 */
export function fitLogNormal(typicalMs: number, { ended, running }: Evidence): LogNormal {
  const logs = ended.map((ms) => Math.log(ms + 1));
  const sum = logs.reduce((total, log) => total + log, 0);
  const squares = logs.reduce((total, log) => total + log * log, 0);
  const cuts = countCuts(running);
  const assumed = Math.log(typicalMs + 1);
  let mean = ended.length > 0 ? sum / ended.length : assumed;
  let variance = usualSpread ** 2;
  for (let round = 0; round < rounds; round += 1) {
    const spread = Math.sqrt(variance);
    let [all, allSquares, count] = [sum, squares, ended.length];
    for (const [cut, times] of cuts) {
      const score = (cut - mean) / spread;
      const excess = hazard(score);
      const expected = mean + spread * excess;
      all += times * expected;
      allSquares += times * (expected ** 2 + variance * Math.max(0, 1 + score * excess - excess ** 2));
      count += times;
    }
    mean = (typicalJobs * assumed + all) / (typicalJobs + count);
    const spreadOut = Math.max(0, allSquares - 2 * mean * all + count * mean ** 2);
    variance = Math.max(1e-6, (usualSpreadJobs * usualSpread ** 2 + spreadOut) / (usualSpreadJobs + count));
  }
  return { mean, spread: Math.sqrt(variance * (1 + 1 / (typicalJobs + ended.length))) };
}

/** As jobs that were seen, of so much weight in all. */
export function massesOf({ mean, spread }: LogNormal, weight: number): Mass[] {
  return scores.map((score) => ({
    ms: Math.max(0, Math.exp(mean + spread * score) - 1),
    weight: weight / scores.length,
  }));
}

/** Middles of equal shares of the normal distribution. */
const scores = [
  -2.13, -1.53, -1.21, -0.97, -0.78, -0.6, -0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45, 0.6, 0.78, 0.97, 1.21, 1.53, 2.13, 3,
];

function countCuts(ages: readonly number[]): Map<number, number> {
  const cuts = new Map<number, number>();
  for (const age of ages) {
    const cut = Math.round(Math.log(age + 1) / coarse) * coarse;
    cuts.set(cut, (cuts.get(cut) ?? 0) + 1);
  }
  return cuts;
}

/** Of the standard normal distribution: its density over what is left beyond. */
function hazard(score: number): number {
  if (score < -8) return 0;
  // Abramowitz and Stegun 26.2.17 for the tail; both have the factor of the density, which goes out.
  const scale = 1 / (1 + 0.2316419 * Math.abs(score));
  const tail =
    scale *
    (0.31938153 + scale * (-0.356563782 + scale * (1.781477937 + scale * (-1.821255978 + scale * 1.330274429))));
  const density = Math.exp((-score * score) / 2) / Math.sqrt(2 * Math.PI);
  if (score >= 0) return score > 5 ? score + 1 / score : 1 / tail;
  return density / (1 - density * tail);
}
