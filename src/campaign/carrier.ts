import type { Plan } from '../plan/plan.ts';
import type { Observer } from './apply-options.ts';
import type { Held } from './hold-and-plan.ts';
import type { LiveRun } from './live-run.ts';
import type { RunResult } from './run.ts';

/** Who carries plans out: this process, or the workers of an engine. */
export interface Carrier {
  /** The open run of this campaign, or one whose end is not recorded here. Undefined if there is none. */
  attach(): Promise<Running | undefined>;
  /** Prepares an approved plan while the lock is held. `result`: the run had already ended. */
  start(plan: Plan, held: Held): Promise<Running | { result: RunResult }>;
}

/** A run, wherever it is carried out. */
export interface Running {
  plan: Plan;
  /** Whether anything happens that belongs into the history of runs. */
  isWork: boolean;
  engineRun?: string;
  /** Whether its outputs stay in its store and are not downloaded here. */
  filesStay?: boolean;
  /** Accepts decisions while it runs. Omitted when decisions wait for the next run. */
  judge?: LiveRun | undefined;
  /** Called once. Resolves when the run has ended, and the lock is settled, or when it was left. */
  watch(observer: Watching): Promise<RunResult>;
}

export type Watching = Pick<Observer, 'on' | 'signal' | 'leave' | 'stray'>;
