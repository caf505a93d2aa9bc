import type { Gate, Graph, OpenRequest, Step } from '../../graph/graph.ts';

/** A graph to which users' decisions from a lock are applied. Only `situate` makes one. */
export interface DecidedGraph extends Graph {
  steps: DecidedStep[];
  /** Gates in the order in which their steps are written; gates of canaries are last. */
  gates: readonly DecidedGate[];
  /** Marks the graph, because decisions must not be applied twice. */
  decided: true;
}

export interface DecidedStep extends Step {
  /** Names of gates that must be decided before anything is bought for this step. At least one. */
  waits?: string[];
  /** Name of the gate at which what it is made from, directly or not, was rejected: nothing more is bought for it. */
  rejected?: string;
  /** Other outputs were picked, or this one was rejected, so its file may be deleted. */
  unpicked?: true;
  decided?: Decided;
}

/** The decision that fixes a step to a purchase. The step then has its `paidRequest` and `fingerprint`. */
export interface Decided {
  /** Where the step is pinned; omitted when it is fixed by an acceptance alone. */
  pinned?: 'manifest' | 'lock';
  accepted?: true;
  /** The request that the manifest asks for now, if it differs from the purchase. */
  wanted?: { paidRequest: OpenRequest; fingerprint: string };
}

export interface DecidedGate extends Gate {
  state: GateState;
}

/**
 * State of a gate after the decisions so far. `open`: fewer outputs are picked than requested, and `toSee` steps are
 * not rejected. `contested`: more are picked than requested, as after a merge. `rejected`: fewer are left than are to
 * be picked.
 */
export type GateState =
  | { is: 'decided' | 'contested'; picked: readonly string[] }
  | { is: 'open' | 'rejected'; picked: readonly string[]; toSee: number };
