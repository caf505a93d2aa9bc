import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { decideGraph } from './apply-decisions.ts';
import { type CanaryFacts, withCanaryGates } from './canaries.ts';
import { findPurchases, type Match } from './find-purchases.ts';

export type { Match } from './find-purchases.ts';

/**
 * Applies people's decisions to a graph (`applyDecisions`), and finds what each of its steps has in the lock. Canaries that
 * people are asked about have gates then, which depend on what is bought. `selected`: addresses that a run is limited to; `underWay`: that it carries out already.
 */
export function matchGraph(
  given: Graph,
  lock: Lock,
  { redo, selected, underWay }: Pick<CanaryFacts, 'redo' | 'selected' | 'underWay'> = {},
): { graph: Graph; matches: readonly Match[] } {
  const { graph, matches = findPurchases(graph.steps, lock) } = decideGraph(given, lock, redo);
  return withCanaryGates({ graph, lock, matches, redo, selected, underWay });
}

/** Finds what each step of a graph has in the lock, as people decided. The graph may hold their decisions already. */
export function matchSteps(graph: Graph, lock: Lock): readonly Match[] {
  return matchGraph(graph, lock).matches;
}
