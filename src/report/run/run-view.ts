/*
 * Views of plans, runs, status and failures.
 * Takes: values of `plan/`, `lock/` and `contract/`, such as the events of a run.
 * Returns: a `Document` of blocks (`document.ts`), which `render/` turns into text or Markdown, or a JSON document.
 * Independent of: files, the network, a clock, a terminal. A view decides nothing and changes nothing.
 */

import type { RunEvent, StepOutcome, StopReason } from '../../contract/event.ts';
import { defined } from '../../ground/values.ts';
import { stateLeft } from '../../plan/actions.ts';
import type { Action, Need } from '../../plan/plan.ts';

type StepFinished = Extract<RunEvent, { event: 'step-finished' }>;

type EventOf<Name extends RunEvent['event']> = Extract<RunEvent, { event: Name }>;
type RunEnded = EventOf<'run-ended'>;

export interface SavedFiles {
  count: number;
  path: string;
  /** Longest common folder of the files, with a slash at its end. */
  folder: string;
}

/**
 * Stage of a step that an event has named. `kept`: up to date before the run. `working`: started, without a job.
 * `searching`: the run searches the service's list for the job. `saving`: the run downloads the file of the finished
 * job. `stays-paid`: the run stopped polling the job. `awaits-consent`: a post without consent, or a step that needs
 * such a post. `awaits-pick`: a gate is open.
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
  /** Start of the step or of its latest retry, in ms since 1970. Omitted if this run did not start the step. */
  begunAt?: number;
  /** In ms since 1970. */
  createdAt?: number | undefined;
  /** Completion of the job, in ms since 1970. */
  madeAt?: number | undefined;
  jobId?: string;
  hasCompletedJob: boolean;
  /** Credits charged in this run, or `null` if unknown. */
  credits: number | null;
  /** Error, or reason why the run did not start the step. */
  error?: string;
  need?: Need;
  /** Whether the run may have sent a create request for the step. */
  intended: boolean;
  because?: 'no-operation' | 'key-known';
  /** Set if the next run recovers the lost answer of the create request. */
  recoverable?: true;
  files: string[];
}

export interface TaskView {
  id: string;
  kind: string;
  steps: number;
  /** Number of steps per stage. Steps that no event has named are excluded. */
  stages: Map<Stage, number>;
  spent: number;
  tookMs: number[];
}

interface Money {
  spentNow: number;
  spentEver: number;
  held: number;
  budget: number | null;
  balance: number | null;
}

/** State of a run. Only `foldEvent` changes it. `structuredClone` can copy it. */
export interface RunView {
  campaign: string;
  steps: number;
  tasks: Map<string, TaskView>;
  stepsByAddress: Map<string, StepView>;
  /** Addresses of steps done in or before this run. To save memory, the view does not store their other facts. */
  settled: Set<string>;
  /** Step that ended with the latest event. `step`: undefined if the run did not start the step. */
  lastEnded: { end: StepFinished; step: StepView | undefined } | undefined;
  files: SavedFiles;
  movedFiles: SavedFiles;
  scheduledPosts: Map<string, string>;
  money: Money;
  /** Likely cost of the approved plan in credits, or `null` while a price is unknown. */
  toSpend: number | null;
  /** Estimated and charged credits. Omitted before the end of the run. */
  estimated?: RunEnded['estimated'];
  stopped?: { because: StopReason; detail: string; until?: string };
  /** Time until which the service asked the run to wait, in ms since 1970. */
  askedUntil?: number;
  /** Time of the latest log line about a repeated create request, in ms since 1970. */
  repeatedAt?: number;
  /** Set while the account has no credits. The run tries a create request at intervals, and stops trying at `until`. */
  awaited?: { until: string; nextTryAt: string };
  awaitedGates?: number;
  /** Time spent waiting for credits in ms, excluding a wait in progress. */
  waitedMs: number;
  /** The first 100 distinct notices. */
  notices: Set<string>;
  end?: Pick<RunEnded, 'exit' | 'elapsedMs' | 'outcomes' | 'unsaved'>;
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
    files: { count: 0, path: '', folder: '' },
    movedFiles: { count: 0, path: '', folder: '' },
    scheduledPosts: new Map(),
    money: { spentNow: 0, spentEver: 0, held: 0, budget: null, balance: null },
    toSpend: null,
    waitedMs: 0,
    notices: new Set(),
  };
}

export function hasEnded(stage: Stage): boolean {
  return stage !== 'working' && stage !== 'searching' && stage !== 'running' && stage !== 'saving';
}

const mostNotices = 100;
/**
 * Minimum time in ms between log lines about repeated create requests, because most repetitions have the same cause.
 */
const repeatedLastsMs = 60_000;
const mostDurations = 100;

type Fold<Event> = (view: RunView, event: Event) => void;

/** Folds an event into the view. Ignores events of ended steps. */
export function foldEvent(view: RunView, event: RunEvent): void {
  view.lastEnded = undefined;
  const fold: Fold<never> | undefined = folds[event.event];
  fold?.(view, event as never);
}

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
    // A run polls a finished job again for a new link. The stage of the step does not change.
    if (view.stepsByAddress.get(address)?.hasCompletedJob !== true)
      changeStep(view, address, { stage: 'running', jobId });
  },
  'job-retried': (view, { address, at }) =>
    changeStep(view, address, { stage: 'working', begunAt: Date.parse(at), createdAt: undefined, madeAt: undefined }),
  'job-completed': completeJob,
  'output-saved': (view, { address, how, output: { path } }) => {
    const files = how === 'moved' ? 'movedFiles' : 'files';
    const { count, path: first, folder } = view[files];
    const before = count === 0 ? path.replace(/[^/]*$/, '') : folder;
    view[files] = { count: count + 1, path: first || path, folder: commonFolder(before, path) };
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

/** Records why the run stopped buying, unless it had already stopped all purchases for an earlier reason. */
function stopSpending(view: RunView, { because, detail, until }: EventOf<'spending-stopped'>): void {
  if (!isPartial(because)) delete view.awaited;
  if (view.stopped === undefined || isPartial(view.stopped.because))
    view.stopped = { because, detail, ...defined({ until }) };
}

/** Returns whether a stop affects only some purchases: those of one price class, or those similar to failed steps. */
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
  // The plan of the step changed during the run, for example by a pick.
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

function commonFolder(folder: string, path: string): string {
  return path.startsWith(folder) ? folder : commonFolder(folder.replace(/[^/]*\/$/, ''), path);
}

export function settledText({ outcome, jobId, error }: EventOf<'send-settled'>): string {
  if (jobId !== undefined) return `an earlier create request of this step made job ${jobId}, which is now recorded`;
  if (outcome === 'done') return 'an earlier create request of this step had no effect, and was not charged';
  return `an earlier create request of this step is still unresolved${error === undefined ? '' : `: ${error}`}`;
}

export function noticeText(notice: { address?: string; message: string }): string {
  return notice.address === undefined ? notice.message : `${notice.address}: ${notice.message}`;
}
