import type { RunEvent, StepOutcome, StopReason } from '../../contract/event.ts';
import type { Output } from '../../lock/record.ts';
import type { Action, Need } from '../../plan/plan.ts';
import { noticeText, settledText } from './notice-text.ts';
import {
  addFile,
  isSettled,
  noFiles,
  noSettledSteps,
  type SavedFiles,
  type SettledStage,
  type SettledSteps,
  settleStep,
} from './settled-steps.ts';

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
  jobId?: string;
  /** The job has succeeded, so the rest is free. */
  hasCompletedJob: boolean;
  /** Charged in this run; `null` unknown. */
  credits: number | null;
  /** The error, or the reason why nothing was done. */
  error?: string;
  /** What it needs, and is in its way. */
  need?: Need;
  /** A create for it may have been sent. */
  intended?: true;
  /** The next run can find out what became of it. */
  recoverable?: true;
  output?: Output;
}

export interface TaskView {
  id: string;
  kind: string;
  steps: number;
  /** Steps per stage; the rest of `steps` waits. */
  stages: Map<Stage, number>;
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
  /** In manifest order. */
  tasks: Map<string, TaskView>;
  /** Steps that an event has named, except settled ones. */
  stepsByAddress: Map<string, StepView>;
  settled: SettledSteps;
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
    files: noFiles(),
    money: { spentNow: 0, spentEver: 0, held: 0, budget: null, balance: null },
    waitedMs: 0,
    notices: new Set(),
  };
}

const mostNotices = 100;

/**
 * Folds one event into the view. Events of different steps may come in any order; late ones for an ended step change
 * nothing.
 */
export function foldEvent(view: RunView, event: RunEvent): void {
  switch (event.event) {
    case 'run-started':
      startRun(view, event);
      return;
    case 'step-started':
      delete view.awaitedGates;
      putStep(view, event, { stage: 'working' });
      return;
    case 'step-left':
      leaveStep(view, event);
      return;
    case 'create-intended':
      changeStep(view, event.address, { intended: true });
      return;
    case 'create-repeated':
    case 'create-searched':
    case 'job-found':
    case 'file-uploaded':
    case 'send-asked':
      return;
    case 'send-settled':
      if (view.notices.size < mostNotices)
        view.notices.add(noticeText({ address: event.address, message: settledText(event) }));
      return;
    case 'job-retried':
      changeStep(view, event.address, { stage: 'working' });
      return;
    case 'job-created':
      changeStep(view, event.address, { stage: 'running', jobId: event.jobId, credits: event.credits });
      if (event.balance !== null) view.money.balance = event.balance;
      return;
    case 'job-progressed':
      // A finished job may be queried once more, for a new link: the step does not go back.
      if (view.stepsByAddress.get(event.address)?.hasCompletedJob !== true) {
        changeStep(view, event.address, { stage: 'running', jobId: event.jobId });
      }
      return;
    case 'job-completed':
      changeStep(view, event.address, { stage: 'saving', jobId: event.jobId, hasCompletedJob: true });
      return;
    case 'output-saved':
      view.files = addFile(view.files, event.output.path);
      changeStep(view, event.address, { output: event.output, hasCompletedJob: true });
      return;
    case 'step-finished':
      changeStep(view, event.address, {
        stage: stageOf(event.outcome),
        credits: event.credits,
        ...(event.error !== undefined && { error: event.error }),
        ...(event.need !== undefined && { need: event.need }),
        ...(event.recoverable && { recoverable: true as const }),
      });
      return;
    case 'credits-changed': {
      const { spentNow, spentEver, held, budget, balance } = event;
      view.money = { spentNow, spentEver, held, budget, balance };
      return;
    }
    case 'credits-awaited':
      view.awaited = { until: event.until, nextTryAt: event.nextTryAt };
      return;
    case 'spending-resumed':
      delete view.awaited;
      view.waitedMs += event.waitedMs;
      return;
    case 'spending-stopped':
      if (event.because !== 'price' && event.because !== 'alike') delete view.awaited;
      // Whatever ends all buying says more than the end of one price.
      if (view.stopped === undefined || view.stopped.because === 'price' || view.stopped.because === 'alike') {
        view.stopped = { because: event.because, detail: event.detail };
      }
      return;
    case 'output-judged':
      return;
    case 'picks-awaited':
      view.awaitedGates = event.gates;
      return;
    case 'noticed':
      if (view.notices.size < mostNotices) view.notices.add(noticeText(event));
      return;
    case 'run-ended': {
      const { spentNow, spentEver, held, balance, exit, elapsedMs } = event;
      view.money = { ...view.money, spentNow, spentEver, held, balance };
      view.end = { exit, elapsedMs };
      delete view.awaitedGates;
      if (event.estimated !== undefined) view.estimated = event.estimated;
      return;
    }
    default:
      event satisfies never;
  }
}

function startRun(view: RunView, event: Extract<RunEvent, { event: 'run-started' }>): void {
  const { totals } = event;
  view.campaign = event.campaign;
  view.steps = event.steps;
  for (const { id, kind, steps } of event.tasks) view.tasks.set(id, { id, kind, steps, stages: new Map() });
  view.money = {
    spentNow: 0,
    spentEver: totals.alreadyPaid,
    held: totals.held,
    budget: totals.budget ?? null,
    balance: totals.balance ?? null,
  };
}

/** Orphans are not steps of the manifest: they are counted nowhere. */
function leaveStep(view: RunView, event: Extract<RunEvent, { event: 'step-left' }>): void {
  if (event.action === 'orphan') return;
  const waits = { consent: 'awaits-consent', gate: 'awaits-pick' } as const;
  const { blockedBy, need } = event;
  const isWaiting = blockedBy === 'consent' || blockedBy === 'gate';
  const stage = isWaiting ? waits[blockedBy] : leftStage(event.action);
  const why = event.action === 'keep' ? {} : { error: event.reason, ...(need !== undefined && { need }) };
  putStep(view, event, { stage, ...why });
}

function leftStage(action: Action): Stage {
  switch (action) {
    case 'keep':
      return 'kept';
    case 'failed':
    case 'blocked':
    case 'unresolved':
      return action;
    case 'create':
    case 'redo':
    case 'retry':
    case 'attach':
    case 'download':
    case 'move':
    case 'orphan':
      return 'left';
    default:
      return action satisfies never;
  }
}

function stageOf(outcome: StepOutcome): Stage {
  return outcome === 'running' ? 'stays-paid' : outcome;
}

function putStep(
  view: RunView,
  step: { address: string; task: string; kind: string; action: Action },
  change: Pick<StepView, 'stage' | 'error' | 'need'>,
): void {
  const { address, task, kind, action } = step;
  const before = view.stepsByAddress.get(address);
  if (view.settled.addresses.has(address) || (before !== undefined && before.stage !== 'awaits-pick')) return;
  // Its gate was decided during the run.
  if (before !== undefined) count(view, before, -1);
  const { stage } = change;
  count(view, { task, stage }, 1);
  if (isSettled(stage)) {
    view.stepsByAddress.delete(address);
    settleStep(view.settled, { address, stage });
  } else
    view.stepsByAddress.set(address, { address, task, kind, action, hasCompletedJob: false, credits: 0, ...change });
}

function changeStep(view: RunView, address: string, change: Partial<StepView>): void {
  const step = view.stepsByAddress.get(address);
  if (step === undefined || hasEnded(step.stage)) return;
  count(view, step, -1);
  Object.assign(step, change);
  count(view, step, 1);
  const { stage } = step;
  if (!isSettled(stage)) return;
  settleStep(view.settled, { address, stage });
  view.stepsByAddress.delete(address);
}

function count(view: RunView, step: Pick<StepView, 'task' | 'stage'>, by: 1 | -1): void {
  const stages = view.tasks.get(step.task)?.stages;
  stages?.set(step.stage, (stages.get(step.stage) ?? 0) + by);
}

/** True when nothing more happens to the step in this run. */
function hasEnded(stage: Stage): boolean {
  return stage !== 'working' && stage !== 'running' && stage !== 'saving';
}
