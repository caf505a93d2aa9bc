import type { Plan } from '../plan/plan.ts';
import type { Observer } from './apply-options.ts';
import type { Held } from './hold-and-plan.ts';
import type { LiveRun } from './live-run.ts';
import type { RunResult } from './run.ts';

/** Executor of plans: this process, or the workers of an engine. */
export interface Carrier {
  /** The open run of this campaign, or a run whose end is not recorded here. Undefined if there is none. */
  attach(): Promise<Running | undefined>;
  /** Prepares an approved plan while the lock is held. `result`: the run has already ended. */
  start(plan: Plan, held: Held): Promise<Running | { result: RunResult }>;
}

/** A run that is under way, in this process or on an engine. */
export interface Running {
  plan: Plan;
  /** Whether the run does anything that belongs in the history of runs. */
  isWork: boolean;
  engineRun?: string;
  /** Whether the outputs of the run stay in its store and are not downloaded to this machine. */
  filesStay?: boolean;
  /** Accepts decisions while it runs. Omitted when decisions wait for the next run. */
  judge?: LiveRun | undefined;
  /** Called once. Resolves when the run has ended and the lock is settled, or when the client has left the run. */
  watch(observer: Watching): Promise<RunResult>;
}

export type Watching = Pick<Observer, 'on' | 'signal' | 'leave' | 'stray'>;
