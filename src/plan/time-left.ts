import { kinds } from '../kinds/index.ts';
import { isSpending, waitsFor } from './actions.ts';
import type { PlanRow, PlanTotals, StepOrder } from './plan.ts';

export type Durations = { readonly [kindAndModel: string]: readonly number[] };

export interface OpenStep {
  /** Durations of similar steps in ms, ascending, never empty. */
  samples: readonly number[];
  after: readonly OpenStep[];
  ageMs?: number;
}

const daily = 0.05;
/** Half the width of the range, in standard deviations of the total work. */
const width = 0.4;
/** Assumed idle time of slots, as a share of the longest chain of steps. The proven maximum is 1 (Graham 1969). */
const idle = 0.4;
/** Expected remaining time of a job that is older than every sample, as a share of its age. */
const overtime = 0.3;

/**
 * Returns a range for the remaining time. In measurements, two thirds of the runs ended within the range. The low end
 * is the total work divided by all slots, or the longest chain of steps if that is longer. The high end adds idle time
 * of slots during this chain, and a late end of the most uncertain step.
 */
export function expectEnd(steps: readonly OpenStep[], slots: number): { lowMs: number; highMs: number } {
  const ends = new Map<OpenStep, number>();
  let [totalMs, variance, chainMs, mostVaried] = [0, 0, 0, 0];
  for (const step of steps) {
    const left = remainingOf(step);
    const endMs = Math.max(0, ...step.after.map((need) => ends.get(need) ?? 0)) + left.meanMs;
    ends.set(step, endMs);
    totalMs += left.meanMs;
    variance += left.variance;
    mostVaried = Math.max(mostVaried, left.variance);
    chainMs = Math.max(chainMs, endMs);
  }
  if (totalMs === 0) return { lowMs: 0, highMs: 0 };
  const evenMs = totalMs / Math.min(slots, steps.length);
  const off = variance === 0 ? 0 : daily + (width * Math.sqrt(variance)) / totalMs;
  const least = Math.max(evenMs, chainMs);
  const most = Math.max(least, totalMs / slots + (1 - 1 / slots) * chainMs * idle);
  return {
    lowMs: Math.round(least * Math.max(0.2, 1 - off)),
    highMs: Math.round(most * (1 + off) + Math.sqrt(mostVaried)),
  };
}

interface Remaining {
  meanMs: number;
  variance: number;
}

function remainingOf({ samples, ageMs }: OpenStep): Remaining {
  if (ageMs === undefined) return spreadOf(samples);
  const longer = samples.filter((ms) => ms > ageMs);
  if (longer.length === 0) return { meanMs: overtime * ageMs, variance: (overtime * ageMs) ** 2 };
  return spreadOf(longer.map((ms) => ms - ageMs));
}

function spreadOf(values: readonly number[]): Remaining {
  const meanMs = values.reduce((sum, ms) => sum + ms, 0) / values.length;
  return { meanMs, variance: values.reduce((sum, ms) => sum + (ms - meanMs) ** 2, 0) / values.length };
}

export function expectTime(
  rows: readonly PlanRow[],
  { concurrency, durations }: { concurrency: number; durations: Durations },
): Pick<PlanTotals, 'expected' | 'untimed'> {
  const samples = new Map<string, readonly number[]>();
  const steps = new Map<string, OpenStep>();
  for (const { address, kind, action, order } of rows) {
    if (order === undefined || !(isSpending(action) || action === 'attach')) continue;
    const job = { kind, paidRequest: order.paidRequest };
    const name = timedAs(job);
    const known = samples.get(name) ?? samplesOf(job, durations).toSorted((a, b) => a - b);
    samples.set(name, known);
    steps.set(address, { samples: known, after: waitsFor(order).flatMap((need) => steps.get(need) ?? []) });
  }
  const untimed = [...samples].flatMap(([name, { length }]) => (length === 0 ? [name] : []));
  if (steps.size === 0) return {};
  return untimed.length > 0 ? { untimed: untimed.sort() } : { expected: expectEnd([...steps.values()], concurrency) };
}

export function timedAs({ kind, paidRequest: { model } }: Pick<StepOrder, 'kind' | 'paidRequest'>): string {
  return typeof model === 'string' ? `${kind} ${model}` : kind;
}

/** Returns the durations of similar jobs, or a typical duration for an upload or post without samples. */
export function samplesOf(order: Pick<StepOrder, 'kind' | 'paidRequest'>, durations: Durations): readonly number[] {
  const seen = durations[timedAs(order)] ?? [];
  const kind = kinds[order.kind];
  return seen.length === 0 && kind?.media === 'none' ? [kind.typicalMs] : seen;
}
