import type { Graph } from '../graph/graph.ts';
import { verdictOn } from '../lock/decisions.ts';
import type { Lock } from '../lock/record.ts';
import { applyDecisions } from './apply-decisions.ts';
import type { Charge } from './list-charges.ts';
import { matchSteps } from './match.ts';

/** What it took to get to what people picked. */
export interface Approved {
  /** Outputs that are picked. */
  assets: number;
  /** Spent on tasks with gates: drafts, rejected and redone ones included. */
  credits: number;
}

/** Sums up what tasks with gates cost, and what was picked of it. Undefined where nothing is picked. */
export function sumApproved(graph: Graph, lock: Lock, charges: readonly Charge[]): Approved | undefined {
  const decided = applyDecisions(graph, lock);
  const { gates = [] } = decided;
  if (gates.length === 0) return undefined;
  const members = new Set(gates.flatMap((gate) => gate.members));
  const tasks = new Set(gates.map(({ task }) => task));
  const picked = matchSteps(decided, lock).filter(
    ({ step, record, purchase }) =>
      members.has(step.address) &&
      purchase?.state === 'done' &&
      verdictOn(record?.decisions, purchase)?.is === 'picked',
  );
  const spent = charges.filter(({ task, went }) => tasks.has(task) && went !== 'held');
  const credits = spent.reduce((sum, charge) => sum + (charge.credits ?? 0), 0);
  return picked.length === 0 ? undefined : { assets: picked.length, credits };
}
