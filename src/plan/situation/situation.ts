import type { Graph } from '../../graph/graph.ts';
import type { Lock, Output } from '../../lock/record.ts';
import { type Limits, withCanaryGates } from '../gates/canaries.ts';
import { gatesByMember } from '../gates/gates.ts';
import { findUnfitSteps, type MediaFacts, type Unfit } from '../outputs/expectation.ts';
import { findUnneeded } from '../rows/unneeded.ts';
import { decideGraph } from './apply-decisions.ts';
import type { DecidedGate, DecidedGraph } from './decided-graph.ts';
import type { Match } from './find-purchases.ts';
import type { Verdicts } from './verdicts.ts';

/** State of a campaign by its lock: decisions, and the purchases of each step. Made once each time the lock is read. */
export interface Situation extends Limits {
  lock: Lock;
  written: Graph;
  /** The graph with users' decisions applied, and with gates for canaries that need a pick. */
  graph: DecidedGraph;
  /** Purchases of each step, in the order of the graph. */
  matches: readonly Match[];
  byAddress: ReadonlyMap<string, Match>;
  /** Gate of each step, by the step's address. Steps without a gate are left out. */
  gateOf: ReadonlyMap<string, DecidedGate>;
  verdicts: Verdicts;
  /** Steps with a file that does not fit `expect`. Omitted when the files were not checked. */
  unfit?: ReadonlyMap<string, Unfit>;
  unneeded: ReadonlySet<string>;
}

export type { Limits } from '../gates/canaries.ts';

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
    unneeded: findUnneeded(graph, matches),
  };
}

export interface SeenFiles {
  fileState(output: Output): FileState;
  /** Returns whether an intact copy of a missing or changed output is stored. If omitted, no copies exist. */
  isKept?(output: Output): boolean;
  /** Measurements of a file; asked for only where `expect:` is written. */
  mediaFacts?(output: Output): MediaFacts | undefined;
}

export type FileState = 'intact' | 'missing' | 'changed';

export interface SeenSituation extends Situation {
  files: SeenFiles;
  unfit: NonNullable<Situation['unfit']>;
}

export function withFiles(situation: Situation, files: SeenFiles): SeenSituation {
  const isIntact = (output: Output) => files.fileState(output) === 'intact';
  return { ...situation, files, unfit: findUnfitSteps(situation.matches, { isIntact, factsOf: files.mediaFacts }) };
}

/** Limits a campaign to a scope. The selection determines which canaries go first. */
export function limit(situation: SeenSituation, limits: Limits): SeenSituation {
  const { written, lock, files } = situation;
  const reseats = limits.selected !== undefined && written.canaries !== undefined;
  const isSame = limits.redo.size === 0 && !reseats;
  return isSame ? { ...situation, ...limits } : withFiles(situate(written, lock, limits), files);
}
