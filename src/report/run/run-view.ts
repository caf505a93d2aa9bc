/*
 * Everything that is shown: plans, events, status, failures.
 * Takes: values of `plan/`, `lock/` and `contract/`, among them the events of a run.
 * Returns: a `Document` of blocks (`document.ts`), which `render/` turns into text, Markdown or JSON.
 * May not know: files, the network, a clock, a terminal. It decides nothing and changes nothing.
 */

import type { RunEvent, StepFinished, StepOutcome, StopReason } from '../../contract/event.ts';
import type { Action, Need } from '../../plan/plan.ts';

type RunEnded = Extract<RunEvent, { event: 'run-ended' }>;
type SettledStage = 'done' | 'kept';

/** Steps done in or before this run: most of a large campaign, so only their numbers are stored. */
interface SettledSteps {
  addresses: Set<string>;
  stages: Map<SettledStage, number>;
}

/** Summary of the files that a run has saved. A large campaign has too many to keep each of them in memory. */
export interface SavedFiles {
  count: number;
  /** Path of the first file. */
  path: string;
  /** Path segments of the deepest folder that contains all files. */
  folder: string[];
}

/**
 * Stage of a step as shown to users. `waiting`: no event has named it yet; `working`: started, without a job;
 * `searching`: its job is searched for in the service's list; `saving`: its job has finished and its file is being
 * downloaded; `stays-paid`: this run no longer watches its job; `kept`: up to date before; `awaits-consent`: a post
 * without consent, or a step that needs one; `awaits-pick`: a gate is open.
 */
export type Stage =
  | SettledStage
  | 'working'
  | 'searching'
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
  /** Start of work on the step, or on another job for it, in ms since 1970. Omitted without work in this run. */
  begunAt?: number;
  /** Times at which the job of the step was created (`createdAt`) and had ended (`madeAt`), in ms since 1970. */
  createdAt?: number | undefined;
  madeAt?: number | undefined;
  /** Its job started in another run, at an unknown time. */
  isAttached?: boolean;
  jobId?: string;
  /** Whether the job has succeeded, so that the rest is free. */
  hasCompletedJob: boolean;
  /** Credits charged in this run; `null` if unknown. */
  credits: number | null;
  /** The error, or the reason why nothing was done. */
  error?: string;
  need?: Need;
  /** A create request for the step may have been sent. */
  intended?: true;
  /** Cause of the outcome, which determines the advice. */
  because?: 'no-operation' | 'key-known';
  /** The next run can find out the outcome. */
  recoverable?: true;
  files: string[];
  /** When the service will publish a post that it has accepted. */
  scheduledFor?: string;
}

export interface TaskView {
  id: string;
  kind: string;
  steps: number;
  /** Number of steps per stage. Steps that are not counted here are `waiting`. */
  stages: Map<Stage, number>;
  /** Credits charged in this run. */
  spent: number;
  /** Latest durations of jobs that this run has seen start and end, in ms. */
  tookMs: number[];
}

export interface Money {
  spentNow: number;
  spentEver: number;
  held: number;
  budget: number | null;
  balance: number | null;
}

/** State of a run: plain data that `structuredClone` copies. Only `foldEvent` changes it. */
export interface RunView {
  campaign: string;
  steps: number;
  /** Tasks in manifest order. */
  tasks: Map<string, TaskView>;
  /** Steps that an event has named, except settled ones. */
  stepsByAddress: Map<string, StepView>;
  settled: SettledSteps;
  /** The step that the latest event ended, if it did. `step`: undefined if the run does not work on it. */
  lastEnded: { end: StepFinished; step: StepView | undefined } | undefined;
  files: SavedFiles;
  /** Files that were only renamed. */
  movedFiles: SavedFiles;
  /** Addresses of posts that this run has sent and the service will publish later, with their times. */
  scheduledPosts: Map<string, string>;
  money: Money;
  /** The likely cost of the approved plan, in credits. Omitted while a price is unknown. */
  toSpend?: number;
  /** Estimated and charged credits; known at the end. */
  estimated?: RunEnded['estimated'];
  stopped?: { because: StopReason; detail: string; until?: string };
  /** The service asked to wait until this time, in ms since 1970. */
  askedUntil?: number;
  /** The account is empty. Until `until`, a create request is tried at intervals. */
  awaited?: { until: string; nextTryAt: string };
  /** Number of open gates while the run only waits for decisions. */
  awaitedGates?: number;
  /** Total duration of all pauses after which the run continued, in ms. */
  waitedMs: number;
  /** Distinct notices in order of arrival; at most 100. */
  notices: Set<string>;
  end?: Pick<RunEnded, 'exit' | 'elapsedMs' | 'outcomes' | 'unsaved'>;
  /** Whether done steps are kept in the view, as for the history of a run. A run in progress only counts them. */
  keepsDone?: true;
}

export function createRunView(options: Pick<RunView, 'keepsDone'> = {}): RunView {
  return {
    ...options,
    campaign: '',
    steps: 0,
    tasks: new Map(),
    stepsByAddress: new Map(),
    settled: noSettledSteps(),
    lastEnded: undefined,
    files: noFiles(),
    movedFiles: noFiles(),
    scheduledPosts: new Map(),
    money: { spentNow: 0, spentEver: 0, held: 0, budget: null, balance: null },
    waitedMs: 0,
    notices: new Set(),
  };
}

export function sinceOf({ begunAt, createdAt, madeAt }: StepView): number | undefined {
  return madeAt ?? createdAt ?? begunAt;
}

export function hasEnded(stage: Stage): boolean {
  return stage !== 'working' && stage !== 'searching' && stage !== 'running' && stage !== 'saving';
}

function noSettledSteps(): SettledSteps {
  return { addresses: new Set(), stages: new Map() };
}

function noFiles(): SavedFiles {
  return { count: 0, path: '', folder: [] };
}

export function isSettled(stage: string): stage is SettledStage {
  return stage === 'done' || stage === 'kept';
}

export function settleStep(settled: SettledSteps, { address, stage }: { address: string; stage: SettledStage }): void {
  settled.addresses.add(address);
  settled.stages.set(stage, (settled.stages.get(stage) ?? 0) + 1);
}

export function addFile(files: SavedFiles, path: string): SavedFiles {
  const names = path.split('/').slice(0, -1);
  if (files.count === 0) return { count: 1, path, folder: names };
  const differs = files.folder.findIndex((name, index) => names[index] !== name);
  const folder = differs === -1 ? files.folder : files.folder.slice(0, differs);
  return { count: files.count + 1, path: files.path, folder };
}
