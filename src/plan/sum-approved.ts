import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { gatesByMember } from './gates.ts';
import type { Charge } from './list-charges.ts';
import { matchGraph } from './match.ts';
import { Verdicts } from './verdicts.ts';

/** What it took to get to what people picked. */
export interface Approved {
  /** Outputs that are picked. */
  assets: number;
  /** Spent on tasks with gates: drafts, rejected and redone ones included. */
  credits: number;
}

/** Sums up what tasks with gates cost, and what was picked of it. Undefined where nothing is picked. */
export function sumApproved(graph: Graph, lock: Lock, charges: readonly Charge[]): Approved | undefined {
  const { graph: decided, matches } = matchGraph(graph, lock);
  const { gates = [] } = decided;
  if (gates.length === 0) return undefined;
  const gateOf = gatesByMember(gates);
  const tasks = new Set(gates.map(({ task }) => task));
  const verdicts = new Verdicts(lock, matches);
  const picked = matches.filter(
    (match) =>
      gateOf.has(match.step.address) && match.purchase?.state === 'done' && verdicts.on(match)?.is === 'picked',
  );
  const spent = charges.filter(({ task, went }) => tasks.has(task) && went !== 'held');
  const credits = spent.reduce((sum, charge) => sum + (charge.credits ?? 0), 0);
  return picked.length === 0 ? undefined : { assets: picked.length, credits };
}
