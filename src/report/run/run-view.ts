/*
 * Everything that is shown: plans, events, status, failures.
 * Takes: values of `plan/`, `lock/` and `contract/`, among them the events of a run.
 * Returns: a `Document` of blocks (`document.ts`), which `render/` turns into text, Markdown or JSON.
 * May not know: files, the network, a clock, a terminal. It decides nothing and changes nothing.
 */

import type { RunEvent, StepFinished, StepOutcome, StopReason } from '../../contract/event.ts';
import { defined } from '../../ground/values.ts';
import { stateLeft } from '../../plan/actions.ts';
import type { Action, Need } from '../../plan/plan.ts';

type EventOf<Name extends RunEvent['event']> = Extract<RunEvent, { event: Name }>;
type RunEnded = EventOf<'run-ended'>;

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
  | 'done'
  | 'kept'
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
  jobId?: string;
  /** Whether the job has succeeded, so that the rest is free. */
  hasCompletedJob: boolean;
  /** Credits charged in this run; `null` if unknown. */
  credits: number | null;
  /** The error, or the reason why nothing was done. */
  error?: string;
  need?: Need;
  /** A create request for the step may have been sent. */
  intended: boolean;
  /** Cause of the outcome, which determines the advice. */
  because?: 'no-operation' | 'key-known';
  /** The next run can find out the outcome. */
  recoverable?: true;
  files: string[];
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

interface Money {
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
  /** Addresses of steps done in or before this run: most of a large campaign, so their facts are not stored. */
  settled: Set<string>;
  /** The step that the latest event ended, if it did. `step`: undefined if the run does not work on it. */
  lastEnded: { end: StepFinished; step: StepView | undefined } | undefined;
  files: SavedFiles;
  /** Files that were only renamed. */
  movedFiles: SavedFiles;
  /** Addresses of posts that this run has sent and the service will publish later, with their times. */
  scheduledPosts: Map<string, string>;
  money: Money;
  /** The likely cost of the approved plan, in credits; `null` while a price is unknown. */
  toSpend: number | null;
  /** Estimated and charged credits; known at the end. */
  estimated?: RunEnded['estimated'];
  stopped?: { because: StopReason; detail: string; until?: string };
  /** The service asked to wait until this time, in ms since 1970. */
  askedUntil?: number;
  /** Time of the latest repetition of a create that was news, in ms since 1970. */
  repeatedAt?: number;
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
  keepsDone: boolean;
}

export function createRunView({ keepsDone = false } = {}): RunView {
  return {
    keepsDone,
    campaign: '',
    steps: 0,
    tasks: new Map(),
    stepsByAddress: new Map(),
    settled: new Set(),
    lastEnded: undefined,
    files: { count: 0, path: '', folder: [] },
    movedFiles: { count: 0, path: '', folder: [] },
    scheduledPosts: new Map(),
    money: { spentNow: 0, spentEver: 0, held: 0, budget: null, balance: null },
    toSpend: null,
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

const mostNotices = 100;
/** Time in ms for which a repeated create is not news, because most repetitions have one cause. */
const repeatedLastsMs = 60_000;
const mostDurations = 100;

type Fold<Event> = (view: RunView, event: Event) => void;

/** Folds an event into the view. Steps come in any order; late events of an ended step change nothing. */
export function foldEvent(view: RunView, event: RunEvent): void {
  view.lastEnded = undefined;
  const fold: Fold<never> | undefined = folds[event.event];
  fold?.(view, event as never);
}

/** Changes by event. */
const folds: { readonly [Name in RunEvent['event']]: Fold<EventOf<Name>> | undefined } = {
  'run-started': startRun,
  'step-started': startStep,
  'step-left': leaveStep,
  'create-intended': (view, { address }) => changeStep(view, address, { intended: true }),
  'create-repeated': repeatCreate,
  'create-searched': (view, { address }) => changeStep(view, address, { stage: 'searching' }),
  'send-settled': (view, event) => note(view, { address: event.address, message: settledText(event) }),
  'job-created': createJob,
  'job-progressed': (view, { address, jobId }) => {
    // A finished job may be polled again for a new link, which does not change the stage of the step.
    if (view.stepsByAddress.get(address)?.hasCompletedJob !== true)
      changeStep(view, address, { stage: 'running', jobId });
  },
  'job-retried': (view, { address, at }) =>
    changeStep(view, address, { stage: 'working', begunAt: Date.parse(at), createdAt: undefined, madeAt: undefined }),
  'job-completed': completeJob,
  'output-saved': (view, { address, how, output: { path } }) => {
    const files = how === 'moved' ? 'movedFiles' : 'files';
    view[files] = addFile(view[files], path);
    const saved = [...(view.stepsByAddress.get(address)?.files ?? []), path];
    changeStep(view, address, { files: saved, hasCompletedJob: true });
  },
  'step-finished': finishStep,
  'credits-changed': (view, { spentNow, spentEver, held, budget, balance }) => {
    view.money = { spentNow, spentEver, held, budget, balance };
  },
  'credits-awaited': (view, { until, nextTryAt }) => {
    view.awaited = { until, nextTryAt };
  },
  'spending-resumed': (view, { waitedMs }) => {
    delete view.awaited;
    view.waitedMs += waitedMs;
  },
  'spending-stopped': stopSpending,
  'picks-awaited': (view, { gates }) => {
    view.awaitedGates = gates;
  },
  noticed: note,
  'run-ended': endRun,
  'job-found': undefined,
  'file-uploaded': undefined,
  'send-asked': undefined,
  'output-judged': undefined,
};

function startRun(view: RunView, event: EventOf<'run-started'>): void {
  const { totals } = event;
  view.campaign = event.campaign;
  view.steps = event.steps;
  view.toSpend = totals.toSpend;
  for (const { id, kind, steps } of event.tasks)
    view.tasks.set(id, { id, kind, steps, stages: new Map(), spent: 0, tookMs: [] });
  view.money = {
    spentNow: 0,
    spentEver: totals.alreadyPaid,
    held: totals.held,
    budget: totals.budget ?? null,
    balance: totals.balance ?? null,
  };
}

function startStep(view: RunView, event: EventOf<'step-started'>): void {
  delete view.awaitedGates;
  putStep(view, event, { stage: 'working', begunAt: Date.parse(event.at) });
}

function repeatCreate(view: RunView, { at: time, throttled, afterMs }: EventOf<'create-repeated'>): void {
  const at = Date.parse(time);
  if (at >= (view.repeatedAt ?? 0) + repeatedLastsMs) view.repeatedAt = at;
  if (throttled) view.askedUntil = Math.max(view.askedUntil ?? 0, at + afterMs);
}

/** A step that is bought again counts the charges of each of its jobs. */
function createJob(view: RunView, event: EventOf<'job-created'>): void {
  const { address, jobId, at } = event;
  const before = view.stepsByAddress.get(address)?.credits ?? null;
  const credits = before === null || event.credits === null ? null : before + event.credits;
  changeStep(view, address, { stage: 'running', createdAt: Date.parse(at), jobId, credits });
  if (event.balance !== null) view.money.balance = event.balance;
}

function completeJob(view: RunView, { address, jobId, at }: EventOf<'job-completed'>): void {
  const step = view.stepsByAddress.get(address);
  const madeAt = step?.madeAt ?? Date.parse(at);
  if (step !== undefined && step.madeAt === undefined) noteDuration(view, step, madeAt - (step.createdAt ?? madeAt));
  changeStep(view, address, { stage: 'saving', madeAt, jobId, hasCompletedJob: true });
}

/** A reason that ends all purchases replaces the reason that ended those of one price. */
function stopSpending(view: RunView, { because, detail, until }: EventOf<'spending-stopped'>): void {
  if (!isPartial(because)) delete view.awaited;
  if (view.stopped === undefined || isPartial(view.stopped.because))
    view.stopped = { because, detail, ...defined({ until }) };
}

/** Returns whether a stop ends only purchases of one price or similar to those that failed. */
export function isPartial(because: StopReason): boolean {
  return because === 'price' || because === 'alike';
}

function endRun(view: RunView, event: EventOf<'run-ended'>): void {
  const { spentNow, spentEver, held, balance, exit, elapsedMs, outcomes, unsaved, estimated } = event;
  view.money = { ...view.money, spentNow, spentEver, held, balance };
  view.end = { exit, elapsedMs, outcomes, ...defined({ unsaved }) };
  delete view.awaitedGates;
  if (estimated !== undefined) view.estimated = estimated;
}

function finishStep(view: RunView, event: StepFinished): void {
  const { address, outcome, credits, error, need, because, recoverable, scheduledFor } = event;
  const step = view.stepsByAddress.get(address);
  view.lastEnded = { end: event, step };
  if (step === undefined || hasEnded(step.stage)) return;
  if (scheduledFor !== undefined) view.scheduledPosts.set(address, scheduledFor);
  const at = Date.parse(event.at);
  if (outcome === 'done' && step.jobId === undefined && step.action !== 'attach')
    noteDuration(view, step, at - (step.begunAt ?? at));
  changeStep(view, address, {
    stage: outcome === 'running' ? 'stays-paid' : outcome,
    credits,
    ...defined({ error, need, because, recoverable, hasCompletedJob: event.unsaved }),
  });
}

function noteDuration(view: RunView, { task }: StepView, ms: number): void {
  const { tookMs = [] } = view.tasks.get(task) ?? {};
  if (ms > 0 && tookMs.push(ms) > mostDurations) tookMs.shift();
}

function note({ notices }: RunView, notice: { address?: string; message: string }): void {
  if (notices.size < mostNotices) notices.add(noticeText(notice));
}

/** Orphans are not steps of the manifest, so they are not counted. */
function leaveStep(view: RunView, event: EventOf<'step-left'>): void {
  if (event.action === 'orphan') return;
  const waits = { consent: 'awaits-consent', gate: 'awaits-pick' } as const;
  const { blockedBy, need, because, jobId } = event;
  const isWaiting = blockedBy === 'consent' || blockedBy === 'gate';
  const stage = event.unneeded
    ? 'unneeded'
    : isWaiting
      ? waits[blockedBy]
      : event.action === 'keep'
        ? 'kept'
        : stateLeft(event.action);
  const why = event.action === 'keep' ? {} : { error: event.reason, ...defined({ need }) };
  const facts = defined({ because, jobId });
  putStep(view, event, { stage, ...why, ...facts });
}

function putStep(
  view: RunView,
  step: { address: string; task: string; kind: string; action: Action },
  change: Pick<StepView, 'stage' | 'begunAt' | 'error' | 'need'>,
): void {
  const { address, task, kind, action } = step;
  const before = view.stepsByAddress.get(address);
  if (view.settled.has(address) || (before !== undefined && before.begunAt !== undefined)) return;
  // The step's gate was decided during the run, or the step turned out not to be needed.
  if (before !== undefined) count(view, before, -1);
  const { stage } = change;
  count(view, { task, stage }, 1);
  if (isSettled(stage)) {
    view.stepsByAddress.delete(address);
    view.settled.add(address);
    return;
  }
  view.stepsByAddress.set(address, {
    ...{ address, task, kind, action, intended: false, hasCompletedJob: false, credits: 0, files: [] },
    ...change,
  });
}

function changeStep(view: RunView, address: string, change: Partial<StepView>): void {
  const step = view.stepsByAddress.get(address);
  if (step === undefined || hasEnded(step.stage)) return;
  count(view, step, -1);
  const { credits: before } = step;
  Object.assign(step, change);
  count(view, step, 1);
  const task = view.tasks.get(step.task);
  if (task !== undefined) task.spent += (step.credits ?? 0) - (before ?? 0);
  if (!isSettled(step.stage)) return;
  view.settled.add(address);
  if (!view.keepsDone) view.stepsByAddress.delete(address);
}

function isSettled(stage: Stage): boolean {
  return stage === 'done' || stage === 'kept';
}

function count(view: RunView, step: Pick<StepView, 'task' | 'stage'>, by: 1 | -1): void {
  const stages = view.tasks.get(step.task)?.stages;
  stages?.set(step.stage, (stages.get(step.stage) ?? 0) + by);
}

function addFile(files: SavedFiles, path: string): SavedFiles {
  const names = path.split('/').slice(0, -1);
  if (files.count === 0) return { count: 1, path, folder: names };
  const differs = files.folder.findIndex((name, index) => names[index] !== name);
  const folder = differs === -1 ? files.folder : files.folder.slice(0, differs);
  return { count: files.count + 1, path: files.path, folder };
}

export function settledText({ outcome, jobId, error }: EventOf<'send-settled'>): string {
  if (jobId !== undefined) return `an earlier create of this step made job ${jobId}, which is now recorded`;
  if (outcome === 'done') return 'an earlier create of this step had no effect, and was not charged';
  return `an earlier create of this step is still unresolved${error === undefined ? '' : `: ${error}`}`;
}

export function noticeText(notice: { address?: string; message: string }): string {
  return notice.address === undefined ? notice.message : `${notice.address}: ${notice.message}`;
}
