import type { RunEvent } from '../contract/event.ts';
import type { SpendingLeft } from '../contract/spending.ts';
import type { Graph } from '../graph/graph.ts';
import type { Agreement } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';
import type { RunTimes } from '../report/run/run-time.ts';
import type { CheckedGraph } from './checked-graph.ts';
import type { LiveRun } from './live-run.ts';
import type { Answer, MoveQuestion } from './lock-service.ts';
import type { PlanningOptions, RehearsalOptions, RunSettings } from './options.ts';
import type { Ending, RunResult } from './run.ts';
import type { SavedPlan } from './saved-plan.ts';

/** Client that watches a run and can end it. */
export interface Observer extends Ending {
  on: (event: RunEvent) => void;
  /** Time left, recorded in the history for clients that follow the run. */
  times?: RunTimes | undefined;
  /** Name of the person who approved the run, and the time of the approval. */
  approved?: { by: string; at: string } | undefined;
  /** Called when the run has ended, for any reason. */
  end?: () => Promise<void>;
}

export interface ApplyGraphOptions extends PlanningOptions, RunSettings {
  /** Returns the graph. Called once, because a second reference would keep this large object alive during the run. */
  check(): Promise<CheckedGraph>;
  lockTimeoutMs?: number | undefined;
  rehearsal?: RehearsalOptions | undefined;
  /** Asks the user whether the service of the lock has moved to a new address. Defaults to the answer no. */
  askAboutMove?: ((question: MoveQuestion) => Promise<Answer>) | undefined;
  saved?: SavedPlan | undefined;
  /** True when approval is requested again because the earlier approval is not valid. */
  isAskedAgain?: true | undefined;
  /** Earlier approval. Defaults to the approval of the saved plan, else to the answer given in this run. */
  agreement?: Agreement | undefined;
  /** Addresses that the selections matched when the plan was first made. */
  chosen?: { redo: ReadonlySet<string>; selected?: ReadonlySet<string> } | undefined;
  /** Throws if this is not the approved plan. Called while the lock is held. */
  verify?: ((plan: Plan, graph: Graph) => void) | undefined;
  /** Returns the plan to run, without posts that lack consent. */
  agree(plan: Plan, found: { misspelt: string | undefined }): Promise<Plan | 'no' | 'interrupted'>;
  observe(run: { plan: Plan; filesStay?: boolean }): Promise<Observer>;
  /**
   * Opens the review, in which people look at new outputs and decide at gates. The run waits for their decisions and
   * then buys what its plan named as following the gates. Called before anything is sent; `end` is called when the
   * run has ended, for any reason.
   */
  review?: ((live: LiveRun) => Promise<{ end(): Promise<void> }>) | undefined;
  /** Digest of the plan's inputs other than files. Omitted if it is never compared. */
  given?: string | undefined;
  /** Spending limit of the process that carries the plan out, when that is not this process. */
  limitThere?: SpendingLeft | undefined;
  /** Engine whose workers carry the plan out. Defaults to this process. */
  engine?: EngineChoice | undefined;
}

/** Engine that carries a run out instead of this machine. */
export interface EngineChoice {
  url: string;
  /** Destination of the workers' files, as the user wrote it. By default they come to the attached client. */
  store?: string | undefined;
}

export type Applied = { is: 'no' | 'interrupted' } | { is: 'ran'; made: Plan; carriedOut: Plan; result: RunResult };
