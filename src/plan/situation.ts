import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { decideGraph } from './apply-decisions.ts';
import { type Limits, withCanaryGates } from './canaries.ts';
import type { DecidedGate, DecidedGraph } from './decided-graph.ts';
import type { Match } from './find-purchases.ts';
import { gatesByMember } from './gates.ts';
import type { Verdicts } from './verdicts.ts';

/** A campaign as its lock has it: what people decided, and what each step has. Made once for each command and look. */
export interface Situation extends Limits {
  lock: Lock;
  /** The graph as the manifest has it. */
  written: Graph;
  /** The graph with people's decisions, and with gates for canaries that they are asked about. */
  graph: DecidedGraph;
  /** Matches, in the order of the graph. */
  matches: readonly Match[];
  byAddress: ReadonlyMap<string, Match>;
  /** The gate that asks about each step. */
  gateOf: ReadonlyMap<string, DecidedGate>;
  verdicts: Verdicts;
}

export type { Limits } from './canaries.ts';

const nothing: ReadonlySet<string> = new Set();

export function situate(
  written: Graph & { decided?: never },
  lock: Lock,
  { redo = nothing, selected, underWay }: Partial<Limits> = {},
): Situation {
  const limits = { redo, selected, underWay };
  const decision = decideGraph(written, lock, redo);
  const { graph, matches } = withCanaryGates(decision, limits);
  return {
    ...limits,
    ...{ lock, written, graph, matches },
    byAddress: new Map(matches.map((match) => [match.step.address, match])),
    gateOf: gatesByMember(graph.gates),
    verdicts: decision.verdicts,
  };
}

/** The same campaign within limits. Which canaries go first depends on what is selected. */
export function limit(situation: Situation, limits: Limits): Situation {
  const { written, lock } = situation;
  const isSeatedAnew = limits.selected !== undefined && written.canaries !== undefined;
  const isSame = limits.redo.size === 0 && !isSeatedAnew;
  return isSame ? { ...situation, ...limits } : situate(written, lock, limits);
}
