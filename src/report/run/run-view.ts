import type { RunEvent, StepOutcome, StopReason } from '../../contract/event.ts';
import type { Action, Need } from '../../plan/plan.ts';
import type { Troubles } from './troubles.ts';

type RunEnded = Extract<RunEvent, { event: 'run-ended' }>;
type SettledStage = 'done' | 'kept';

/** Steps that are done, by this run or before it: nearly all of a large campaign. Only their number is reported. */
interface SettledSteps {
  addresses: Set<string>;
  stages: Map<SettledStage, number>;
}

/** Files that a run has saved. A step may have several, and a large campaign has too many to keep each of them in mind. */
export interface SavedFiles {
  count: number;
  /** Path of the first one's file. */
  path: string;
  /** Names of the deepest folder that holds all of them. */
  folder: string[];
}

/** A run with at most so many steps to do may be shown step by step. */
export const mostStepsShown = 60;

/**
 * Stage of a step as a person sees it. `waiting`: no event has named it yet; `working`: begun, without a job;
 * `searching`: its job is looked for in the service's list; `saving`:
 * its job has finished and its file is being fetched; `stays-paid`: this run no longer watches its job; `kept`: up to
 * date before; `awaits-consent`: a post that nobody agreed to, or a step that needs one; `awaits-pick`: a gate is open.
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
  /** When this run began with it, or with another job for it, in ms since 1970. Omitted when it does not act on the step. */
  begunAt?: number;
  /** When its job was created, and when that was over. */
  createdAt?: number | undefined;
  madeAt?: number | undefined;
  /** Its job started in another run, at an unknown time. */
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
  need?: Need;
  /** A create for it may have been sent. */
  intended?: true;
  /** Words on what to do about how it ended. */
  because?: 'no-operation' | 'key-known';
  /** The next run can find out what became of it. */
  recoverable?: true;
  files: string[];
  /** It was here, and has a new name. */
  isMoved?: true;
  /** When the service is going to publish a post that it has. */
  scheduledFor?: string;
}

export interface TaskView {
  id: string;
  kind: string;
  steps: number;
  /** Steps per stage; the rest of `steps` waits. */
  stages: Map<Stage, number>;
  /** Credits charged in this run. */
  spent: number;
  rate: Rate;
  /** Durations of the jobs that this run has seen start and end, in ms: the latest. */
  tookMs: number[];
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
  /** The same for files that only have a new name. */
  movedFiles: SavedFiles;
  /** Posts that this run has sent and the service is going to publish later: addresses with their times. */
  scheduledPosts: Map<string, string>;
  money: Money;
  /** The likely cost of the approved plan, in credits. Omitted while a price is unknown. */
  toSpend?: number;
  /** Estimate against charge; known at the end. */
  estimated?: RunEnded['estimated'];
  stopped?: { because: StopReason; detail: string; until?: string };
  /** The service asks to wait until then, in ms since 1970. */
  askedUntil?: number;
  /** The account is empty, and until then one create is tried from time to time. */
  awaited?: { until: string; nextTryAt: string };
  /** Number of open gates while the run only waits for decisions. */
  awaitedGates?: number;
  /** Total of all pauses that ended well. */
  waitedMs: number;
  /** Each once, in order of arrival; at most 100. */
  notices: Set<string>;
  end?: Pick<RunEnded, 'exit' | 'elapsedMs' | 'outcomes' | 'unsaved'>;
  /** Keeps steps that are done, as the history of a run shows them. A run itself only counts them. */
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
    firstBegun: new Map(),
    troubles: new Map(),
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

/** True when nothing more happens to the step in this run. */
export function hasEnded(stage: Stage): boolean {
  return stage !== 'working' && stage !== 'searching' && stage !== 'running' && stage !== 'saving';
}

const bucketMs = 10_000;
const buckets = 12;

/** Counts what ends, over the last two minutes. */
export class Rate {
  readonly #counts = new Array<number>(buckets).fill(0);
  #bucket = 0;
  #firstAt: number | undefined;

  /** `at`: ms since 1970. */
  add(at: number): void {
    this.#moveTo(at);
    this.#firstAt ??= at;
    const index = this.#bucket % buckets;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** Returns the rate per minute. Undefined as long as it says little. */
  perMinute(now: number): number | undefined {
    this.#moveTo(now);
    if (this.#firstAt === undefined || now - this.#firstAt < 30_000) return undefined;
    const minutes = Math.min(now - this.#firstAt, (buckets - 1) * bucketMs + (now % bucketMs)) / 60_000;
    return this.#counts.reduce((sum, count) => sum + count, 0) / minutes;
  }

  #moveTo(time: number): void {
    const bucket = Math.floor(time / bucketMs);
    const passed = Math.min(buckets, bucket - this.#bucket);
    for (let step = 1; step <= passed; step += 1) this.#counts[(bucket - passed + step) % buckets] = 0;
    this.#bucket = Math.max(this.#bucket, bucket);
  }
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
