import type { RunFact } from '../contract/event.ts';
import type { ReviewRun } from '../contract/review.ts';
import type { LocalGate } from '../engine/create-gate.ts';
import type { Driven } from '../engine/driven.ts';
import type { LocalLedger } from '../engine/local-ledger.ts';
import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import type { PlannedAgain } from './plan-again.ts';

export interface LiveRunOptions {
  /** Plan as somebody agreed to it. */
  agreed: Plan;
  /** Graph as written: without decisions. */
  graph: Graph;
  lock: Lock;
  /** The steps that are bought anew. */
  redo: ReadonlySet<string>;
  /** The steps that the run is about. Absent: all. */
  selected?: ReadonlySet<string> | undefined;
  /** `took`: what the run carries out beside its plan, by address. */
  plan(lock: Lock, redo: ReadonlySet<string>, took: ReadonlyMap<string, PlanRow>): Promise<PlannedAgain>;
  /** Whether the agreement covers this row, and that of a plan that was made before. */
  covers(row: PlanRow): boolean;
}

/** Parts of a run that carry the plan out. */
export interface Works {
  ledger: Pick<LocalLedger, 'lock' | 'decide'>;
  gate: Pick<LocalGate, 'stopped' | 'stop'>;
  driven: Driven;
  signal: AbortSignal;
  emit(fact: RunFact): void;
}

/** State that a run shows while people look at its outputs. */
export interface LiveState {
  graph: Graph;
  lock: Lock;
  /** Rows of the plan as it is now, as far as it is known. */
  rows: readonly PlanRow[];
  selected: ReadonlySet<string> | undefined;
  is: ReviewRun['is'];
  /** Gates that the run waits for. */
  gates: number;
  /** `7 of 12 done, 2 running`. */
  progress: string;
}
