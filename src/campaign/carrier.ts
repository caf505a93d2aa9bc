import type { Plan } from '../plan/plan.ts';
import type { Observer } from './apply-options.ts';
import type { Held } from './hold-and-plan.ts';
import type { LiveRun } from './live-run.ts';
import type { RunResult } from './run.ts';

/** Who carries plans out: this process, or the workers of an engine. */
export interface Carrier {
  /** The open run of this campaign, or one whose end is not recorded here. Undefined: there is none, so plan one. */
  attach(): Promise<Running | undefined>;
  /** Makes everything ready for a plan that somebody agreed to, while the campaign is held. `result`: it was over before. */
  start(plan: Plan, held: Held): Promise<Running | { result: RunResult }>;
}

/** A run, wherever it is carried out. */
export interface Running {
  plan: Plan;
  /** Whether anything happens that belongs into the history of runs. */
  isWork: boolean;
  engineRun?: string;
  /** Whether what it saves stays in its store, and does not come here. */
  filesStay?: boolean;
  /** Accepts decisions while it runs. Omitted when decisions wait for the next run. */
  judge?: LiveRun | undefined;
  /** Called once. Resolves when the run has ended, and the lock is settled, or when it was left. */
  watch(observer: Watching): Promise<RunResult>;
}

export type Watching = Pick<Observer, 'on' | 'signal' | 'leave' | 'stray'>;
