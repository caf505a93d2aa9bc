import type { RunEvent, StepOutcome, StopReason } from '../../contract/event.ts';
import type { Action, Need } from '../../plan/plan.ts';
import type { Rate } from './rate.ts';
import { noFiles, noSettledSteps, type SavedFiles, type SettledStage, type SettledSteps } from './settled-steps.ts';
import type { Troubles } from './troubles.ts';

/** A run with at most so many steps to do may be shown step by step. */
export const mostStepsShown = 60;

/**
 * Stage of a step as a person sees it. `waiting`: no event has named it yet; `working`: begun, without a job; `saving`:
 * its job has finished and its file is being fetched; `stays-paid`: this run no longer watches its job; `kept`: up to
 * date before; `awaits-consent`: a post that nobody agreed to, or a step that needs one; `awaits-pick`: a gate is open.
 */
export type Stage =
  | SettledStage
  | 'working'
  | 'running'
  | 'saving'
  | 'stays-paid'
  | 'awaits-consent'
  | 'awaits-pick'
  | Exclude<StepOutcome, 'done' | 'running'>;

export interface StepView {
  address: string;
  task: string;
  kind: string;
  action: Action;
  stage: Stage;
  /** When this run began with it, or with another job for it, in ms since 1970. Absent: it does not act on the step. */
  begunAt?: number;
  /** When its job was created, and when that was over. */
  createdAt?: number | undefined;
  madeAt?: number | undefined;
  /** Its job began in another run, nobody knows when. */
  isAttached?: boolean;
  jobId?: string;
  /** The job waits at the service. */
  isQueued?: boolean;
  /** The job has succeeded, so the rest is free. */
  hasCompletedJob: boolean;
  /** Credits charged in this run; `null` unknown. */
  credits: number | null;
  /** The error, or the reason why nothing was done. */
  error?: string;
  /** Unmet need that is in its way. */
  need?: Need;
  /** A create for it may have been sent. */
  intended?: true;
  /** The next run can find out what became of it. */
  recoverable?: true;
  /** Where its first file was saved. */
  path?: string;
}

export interface TaskView {
  id: string;
  kind: string;
  steps: number;
  /** Steps per stage; the rest of `steps` waits. */
  stages: Map<Stage, number>;
  /** Credits charged in this run. */
  spent: number;
  /** Rate of jobs that are done. */
  rate: Rate;
}

export interface Money {
  spentNow: number;
  spentEver: number;
  held: number;
  budget: number | null;
  balance: number | null;
}

/** Everything that a run has reported so far. Screen, lines and summary read it; only `foldEvent` changes it. */
export interface RunView {
  campaign: string;
  steps: number;
  /** Tasks in manifest order. */
  tasks: Map<string, TaskView>;
  /** Steps that an event has named, except settled ones. */
  stepsByAddress: Map<string, StepView>;
  settled: SettledSteps;
  /** The last one to end. */
  lastEnded?: StepView;
  /** The first steps that the run has begun, settled ones as well: one more than a screen shows. */
  firstBegun: Map<string, StepView>;
  troubles: Troubles;
  files: SavedFiles;
  money: Money;
  /** Estimate against charge; known at the end. */
  estimated?: Extract<RunEvent, { event: 'run-ended' }>['estimated'];
  stopped?: { because: StopReason; detail: string };
  /** The account is empty, and until then one create is tried from time to time. */
  awaited?: { until: string; nextTryAt: string };
  /** Nothing is left to do until people decide: the number of gates that they can decide now. */
  awaitedGates?: number;
  /** Total of all pauses that ended well. */
  waitedMs: number;
  /** Each once, in order of arrival; at most 100. */
  notices: Set<string>;
  end?: { exit: number; elapsedMs: number };
}

export function createRunView(): RunView {
  return {
    campaign: '',
    steps: 0,
    tasks: new Map(),
    stepsByAddress: new Map(),
    settled: noSettledSteps(),
    firstBegun: new Map(),
    troubles: new Map(),
    files: noFiles(),
    money: { spentNow: 0, spentEver: 0, held: 0, budget: null, balance: null },
    waitedMs: 0,
    notices: new Set(),
  };
}

/** Returns when its stage began. */
export function sinceOf({ begunAt, createdAt, madeAt }: StepView): number | undefined {
  return madeAt ?? createdAt ?? begunAt;
}

/** True when nothing more happens to the step in this run. */
export function hasEnded(stage: Stage): boolean {
  return stage !== 'working' && stage !== 'running' && stage !== 'saving';
}
