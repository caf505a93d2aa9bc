import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { decideGraph } from './apply-decisions.ts';
import { findPurchases, type Match } from './find-purchases.ts';

export type { Match } from './find-purchases.ts';

/** Applies people's decisions to a graph (`applyDecisions`), and finds what each of its steps has in the lock. */
export function matchGraph(given: Graph, lock: Lock, redo?: ReadonlySet<string>): { graph: Graph; matches: Match[] } {
  const { graph, matches = findPurchases(graph.steps, lock) } = decideGraph(given, lock, redo);
  return { graph, matches };
}

/** Finds what each step of a graph has in the lock, as people decided. The graph may hold their decisions already. */
export function matchSteps(graph: Graph, lock: Lock): Match[] {
  return matchGraph(graph, lock).matches;
}
