import { kinds } from '../kinds/index.ts';
import { isSpending, waitsFor } from './actions.ts';
import { asSeen, doubtOf, estimate } from './distribution.ts';
import type { PlanRow, PlanTotals, StepOrder } from './plan.ts';
import { type OpenStep, simulateEnds, type Timing } from './simulate-ends.ts';

/** Durations of finished jobs, in ms, by kind and model. */
export type Durations = { readonly [kindAndModel: string]: readonly number[] };

/** Enough for a range that does not jump, and done in a few ms. */
const draws = 64;

/**
 * Expects how long a plan takes: its steps are scheduled as a run would, with durations of earlier jobs. One run in
 * five is quicker than the answer, one is slower. Nothing is expected of a plan with a kind and model
 * that was never timed.
 */
export function expectTime(
  rows: readonly PlanRow[],
  { concurrency, durations }: { concurrency: number; durations: Durations },
): Pick<PlanTotals, 'expected' | 'untimed'> {
  const timings = new Map<string, Timing>();
  const steps = new Map<string, OpenStep>();
  const untimed: string[] = [];
  for (const { address, kind, action, order } of rows) {
    if (order === undefined || !(isSpending(action) || action === 'attach')) continue;
    const job = { kind, paidRequest: order.paidRequest };
    const name = timedAs(job);
    let timing = timings.get(name);
    if (timing === undefined) {
      const samples = samplesOf(job, durations);
      if (samples.length === 0) untimed.push(name);
      timing = { jobs: estimate(asSeen(samples)), doubt: doubtOf(samples), startMs: 0, saveMs: 0, failShare: 0 };
      timings.set(name, timing);
    }
    steps.set(address, { timing, after: waitsFor(order).flatMap((need) => steps.get(need) ?? []) });
  }
  if (steps.size === 0) return {};
  if (untimed.length > 0) return { untimed: untimed.sort() };
  return { expected: rangeOf(simulateEnds([...steps.values()], { slots: concurrency, draws })) };
}

/** The kind and model under which durations of its job are kept. */
export function timedAs({ kind, paidRequest: { model } }: Pick<StepOrder, 'kind' | 'paidRequest'>): string {
  return typeof model === 'string' ? `${kind} ${model}` : kind;
}

/** Durations of jobs like this one. Uploads and posts take seconds, whether or not one was timed. */
export function samplesOf(order: Pick<StepOrder, 'kind' | 'paidRequest'>, durations: Durations): readonly number[] {
  const seen = durations[timedAs(order)] ?? [];
  const kind = kinds[order.kind];
  return seen.length === 0 && kind?.media === 'none' ? [kind.typicalMs] : seen;
}

/** Returns the range that one run in five undercuts, and one exceeds. */
export function rangeOf(ends: readonly number[]): { lowMs: number; highMs: number } {
  const at = (share: number) => Math.round(ends[Math.floor(share * (ends.length - 1))] ?? 0);
  return { lowMs: at(0.2), highMs: at(0.8) };
}
