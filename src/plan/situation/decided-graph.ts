import type { Gate, Graph, OpenRequest, Step } from '../../graph/graph.ts';

/** A graph with the decisions that people made about it in a lock. Only `situate` makes one. */
export interface DecidedGraph extends Graph {
  steps: DecidedStep[];
  /** Gates in the order in which their steps are written; those of canaries last. */
  gates: readonly DecidedGate[];
  /** Decisions count once: what has them already is no graph to be decided. */
  decided: true;
}

export interface DecidedStep extends Step {
  /** Gates that must be decided before anything is bought for it. At least one. */
  waits?: string[];
  /** People picked others, or rejected its output: its file may be deleted. */
  unpicked?: true;
  /** Decisions of people about it that count now. */
  decided?: Decided;
}

/** The decision that holds a step to a purchase, whose `paidRequest` and `fingerprint` the step then has. */
export interface Decided {
  /** Who pinned it; absent when it is held by an acceptance alone. */
  pinned?: 'manifest' | 'lock';
  accepted?: true;
  /** The request that the manifest asks for now, when it differs. */
  wanted?: { paidRequest: OpenRequest; fingerprint: string };
}

export interface DecidedGate extends Gate {
  state: GateState;
}

/**
 * State of a gate by the decisions so far. `open`: `toSee` steps are not rejected, and fewer than asked for are picked.
 * `contested`: more are picked than asked for, as after a merge. `rejected`: fewer are left than are to be picked.
 */
export type GateState =
  | { is: 'decided' | 'contested'; picked: readonly string[] }
  | { is: 'open' | 'rejected'; picked: readonly string[]; toSee: number };
