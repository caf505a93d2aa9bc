import type { Mass } from './distribution.ts';

/** Of the logarithms of ms. */
export interface LogNormal {
  mean: number;
  spread: number;
}

/** What is assumed of how much jobs of one kind differ, and the weight of that in jobs. */
const usualSpread = 0.5;
const usualSpreadJobs = 3;
/** The weight in jobs of what is said to be typical of a kind: any service may be five times as fast, or as slow. */
const typicalJobs = 0.2;

/**
 * The log-normal distribution that finished jobs (in ms) speak for, starting from what is typical. Wider than the best fit by
 * as much as its mean is in doubt.
 */
export function fitLogNormal(typicalMs: number, ended: readonly number[]): LogNormal {
  const count = ended.length;
  const logs = ended.map((ms) => Math.log(ms + 1));
  const sum = logs.reduce((total, log) => total + log, 0);
  const mean = (typicalJobs * Math.log(typicalMs + 1) + sum) / (typicalJobs + count);
  const squares = logs.reduce((total, log) => total + (log - mean) ** 2, 0);
  const variance = (usualSpreadJobs * usualSpread ** 2 + squares) / (usualSpreadJobs + count);
  return { mean, spread: Math.sqrt(variance * (1 + 1 / (typicalJobs + count))) };
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
