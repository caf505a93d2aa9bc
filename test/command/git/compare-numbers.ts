import { expect } from 'vitest';
import type { Credits } from './working-copy.ts';

/** Numbers of the campaign, by the command that tells them. */
export interface Numbers {
  status: { credits: Credits };
  plan: { totals: { alreadyPaid: number; held: number; budget?: number; budgetLeft?: number } };
  cost: { totals: { spent: number } };
  /** The run that the summary is of; absent where none was recorded. */
  run: string | undefined;
  runs: { runs: { id: string; spentNow: number }[] };
}

/** One run, one campaign: its summary, status, next plan, costs and the list of runs say the same of it. */
export function compareNumbers(summary: string, { status, plan, cost, run, runs }: Numbers): void {
  const number = (pattern: RegExp) => Number(pattern.exec(summary)?.[1]?.replaceAll('\u202f', ''));
  const { spent, held, heldUnknown, left } = status.credits;
  expect({
    summary: number(/([\d\u202f]+) over all runs/),
    plan: plan.totals.alreadyPaid,
    cost: cost.totals.spent,
  }).toEqual({ summary: spent, plan: spent, cost: spent });
  if (run !== undefined) {
    const spentNow = runs.runs.find(({ id }) => id === run)?.spentNow;
    expect({ run: spentNow }, summary).toEqual({ run: number(/([\d\u202f]+) spent now/) });
  }
  if (left === undefined) return;
  expect({ summary: number(/([\d\u202f]+) of [\d\u202f]+ left/) }, summary).toEqual({ summary: left });
  if (held + heldUnknown === 0) expect(plan.totals.budgetLeft).toBe(left);
}
