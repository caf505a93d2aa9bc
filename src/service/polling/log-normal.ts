import type { Mass } from '../../plan/distribution.ts';

/** Parameters over the logarithms of ms. */
export interface LogNormal {
  mean: number;
  spread: number;
}

/** Assumed spread among jobs of one kind, and its weight in jobs. */
const usualSpread = 0.5;
const usualSpreadJobs = 3;
/** Weight, in jobs, of a kind's typical duration: any service may be five times as fast, or as slow. */
const typicalJobs = 0.2;

/**
 * Fits a log-normal distribution to finished jobs (in ms), starting from the typical one. Wider than the best fit by
 * the uncertainty of its mean.
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

/** Samples of the distribution as jobs, with this total weight. */
export function massesOf({ mean, spread }: LogNormal, weight: number): Mass[] {
  return scores.map((score) => ({
    ms: Math.max(0, Math.exp(mean + spread * score) - 1),
    weight: weight / scores.length,
  }));
}

/** Midpoints of equal shares of the normal distribution. */
const scores = [
  -2.13, -1.53, -1.21, -0.97, -0.78, -0.6, -0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45, 0.6, 0.78, 0.97, 1.21, 1.53, 2.13, 3,
];
