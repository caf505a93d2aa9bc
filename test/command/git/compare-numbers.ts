import { expect } from 'vitest';
import type { Credits } from './working-copy.ts';

/** States of steps, and how many are in each. */
interface States {
  [state: string]: number;
}

/** Numbers of the campaign, by the command that tells them. */
export interface Numbers {
  status: { credits: Credits; tasks: { id: string; states: States }[] };
  plan: { totals: { alreadyPaid: number; held: number; budget?: number; budgetLeft?: number } };
  cost: {
    totals: { spent: number; held: number; heldUnknown: number };
    rows: { task: string; credits: { spent: number; held: number } }[];
  };
  /** The run that the summary is of; absent where none was recorded. */
  run: string | undefined;
  runs: { runs: { id: string; spentNow: number }[] };
  graph: { nodes: { is: string; id: string; states: States; credits: { spent: number; held: number } }[] };
}

/** One run, one campaign: its summary, status, next plan, costs, diagram and the list of runs say the same of it. */
export function compareNumbers(summary: string, { status, plan, cost, run, runs, graph }: Numbers): void {
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
  compareTasks({ status, cost, graph });
  if (left === undefined) return;
  expect({ summary: number(/([\d\u202f]+) of [\d\u202f]+ left/) }, summary).toEqual({ summary: left });
  if (held + heldUnknown === 0) expect(plan.totals.budgetLeft).toBe(left);
}

/** Task by task: the states of its steps, and what it was charged for, rows that it no longer has included. */
function compareTasks({ status, cost, graph }: Pick<Numbers, 'status' | 'cost' | 'graph'>): void {
  const tasks = graph.nodes.filter(({ is }) => is === 'task');
  const stated = new Map(status.tasks.map(({ id, states }) => [id, states]));
  const charged = new Map(cost.rows.map(({ task, credits }) => [task, credits]));
  expect(tasks.map(({ id, states }) => ({ id, states }))).toEqual(
    tasks.map(({ id }) => ({ id, states: stated.get(id) })),
  );
  expect(tasks.map(({ id, credits: { spent, held } }) => ({ id, spent, held }))).toEqual(
    tasks.map(({ id }) => ({ id, spent: charged.get(id)?.spent ?? 0, held: charged.get(id)?.held ?? 0 })),
  );
}
