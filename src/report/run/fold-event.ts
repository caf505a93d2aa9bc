import type { RunEvent, StepFinished, StepOutcome } from '../../contract/event.ts';
import { defined } from '../../ground/values.ts';
import { stateLeft } from '../../plan/actions.ts';
import type { Action } from '../../plan/plan.ts';
import { addFile, hasEnded, isSettled, type RunView, type Stage, type StepView, settleStep } from './run-view.ts';
import { noticeText, settledText } from './run-words.ts';

const mostNotices = 100;
const mostDurations = 100;

/** Folds an event into the view. Steps come in any order; late events of an ended step change nothing. */
export function foldEvent(view: RunView, event: RunEvent): void {
  view.lastEnded = undefined;
  switch (event.event) {
    case 'run-started':
      startRun(view, event);
      return;
    case 'step-started':
      delete view.awaitedGates;
      putStep(view, event, {
        ...{ stage: 'working', begunAt: Date.parse(event.at) },
        ...(event.action === 'attach' && { isAttached: true }),
      });
      return;
    case 'step-left':
      leaveStep(view, event);
      return;
    case 'create-intended':
      changeStep(view, event.address, { intended: true });
      return;
    case 'create-repeated':
      if (event.throttled) view.askedUntil = Math.max(view.askedUntil ?? 0, Date.parse(event.at) + event.afterMs);
      return;
    case 'create-searched':
      changeStep(view, event.address, { stage: 'searching' });
      return;
    case 'job-found':
    case 'file-uploaded':
    case 'send-asked':
      return;
    case 'send-settled':
      if (view.notices.size < mostNotices)
        view.notices.add(noticeText({ address: event.address, message: settledText(event) }));
      return;
    case 'job-retried':
      changeStep(view, event.address, {
        ...{ stage: 'working', begunAt: Date.parse(event.at), createdAt: undefined, madeAt: undefined },
        isAttached: false,
      });
      return;
    case 'job-created':
      createJob(view, event);
      return;
    case 'job-progressed': {
      // A finished job may be polled again for a new link, which does not change the stage of the step.
      if (view.stepsByAddress.get(event.address)?.hasCompletedJob !== true) {
        changeStep(view, event.address, { stage: 'running', jobId: event.jobId });
      }
      return;
    }
    case 'job-completed': {
      const { address, jobId, at } = event;
      const step = view.stepsByAddress.get(address);
      const madeAt = step?.madeAt ?? Date.parse(at);
      if (step !== undefined && step.madeAt === undefined)
        noteDuration(view, step, madeAt - (step.createdAt ?? madeAt));
      changeStep(view, address, { stage: 'saving', madeAt, jobId, hasCompletedJob: true });
      return;
    }
    case 'output-saved': {
      const files = event.how === 'moved' ? 'movedFiles' : 'files';
      view[files] = addFile(view[files], event.output.path);
      const saved = [...(view.stepsByAddress.get(event.address)?.files ?? []), event.output.path];
      changeStep(view, event.address, { files: saved, hasCompletedJob: true });
      return;
    }
    case 'step-finished':
      finishStep(view, event);
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
      // A reason that ends all purchases replaces the reason that ended those of one price.
      if (view.stopped === undefined || view.stopped.because === 'price' || view.stopped.because === 'alike') {
        const { because, detail, until } = event;
        view.stopped = { because, detail, ...defined({ until }) };
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
      const { spentNow, spentEver, held, balance, exit, elapsedMs, outcomes, unsaved } = event;
      view.money = { ...view.money, spentNow, spentEver, held, balance };
      view.end = { exit, elapsedMs, outcomes, ...defined({ unsaved }) };
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
  if (totals.toSpend !== null) view.toSpend = totals.toSpend;
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

/** A step that is bought again counts the charges of each of its jobs. */
function createJob(view: RunView, event: Extract<RunEvent, { event: 'job-created' }>): void {
  const { address, jobId, at } = event;
  const before = view.stepsByAddress.get(address)?.credits ?? null;
  const credits = before === null || event.credits === null ? null : before + event.credits;
  changeStep(view, address, { stage: 'running', createdAt: Date.parse(at), jobId, credits });
  if (event.balance !== null) view.money.balance = event.balance;
}

function finishStep(view: RunView, event: StepFinished): void {
  const { address, outcome, credits, error, need, because, recoverable, scheduledFor } = event;
  const step = view.stepsByAddress.get(address);
  view.lastEnded = { end: event, step };
  if (step === undefined || hasEnded(step.stage)) return;
  if (scheduledFor !== undefined) view.scheduledPosts.set(address, scheduledFor);
  if (outcome === 'done') {
    const at = Date.parse(event.at);
    if (step.jobId === undefined && !step.isAttached) noteDuration(view, step, at - (step.begunAt ?? at));
  }
  changeStep(view, address, {
    stage: stageOf(outcome),
    credits,
    ...defined({ error, need, because, recoverable, scheduledFor, hasCompletedJob: event.unsaved }),
  });
}

function noteDuration(view: RunView, { task }: StepView, ms: number): void {
  const { tookMs = [] } = view.tasks.get(task) ?? {};
  if (ms > 0 && tookMs.push(ms) > mostDurations) tookMs.shift();
}

/** Orphans are not steps of the manifest, so they are not counted. */
function leaveStep(view: RunView, event: Extract<RunEvent, { event: 'step-left' }>): void {
  if (event.action === 'orphan') return;
  const waits = { consent: 'awaits-consent', gate: 'awaits-pick' } as const;
  const { blockedBy, need, because, jobId } = event;
  const isWaiting = blockedBy === 'consent' || blockedBy === 'gate';
  const stage = event.unneeded ? 'unneeded' : isWaiting ? waits[blockedBy] : leftStage(event.action);
  const why = event.action === 'keep' ? {} : { error: event.reason, ...defined({ need }) };
  const facts = defined({ because, jobId });
  putStep(view, event, { stage, ...why, ...facts });
}

function leftStage(action: Action): Stage {
  return action === 'keep' ? 'kept' : stateLeft(action);
}

function stageOf(outcome: StepOutcome): Stage {
  return outcome === 'running' ? 'stays-paid' : outcome;
}

function putStep(
  view: RunView,
  step: { address: string; task: string; kind: string; action: Action },
  change: Pick<StepView, 'stage' | 'begunAt' | 'isAttached' | 'error' | 'need'>,
): void {
  const { address, task, kind, action } = step;
  const before = view.stepsByAddress.get(address);
  if (view.settled.addresses.has(address) || (before !== undefined && before.begunAt !== undefined)) return;
  // The step's gate was decided during the run, or the step turned out not to be needed.
  if (before !== undefined) count(view, before, -1);
  const { stage } = change;
  count(view, { task, stage }, 1);
  if (isSettled(stage)) {
    view.stepsByAddress.delete(address);
    settleStep(view.settled, { address, stage });
    return;
  }
  const put: StepView = { address, task, kind, action, hasCompletedJob: false, credits: 0, files: [], ...change };
  view.stepsByAddress.set(address, put);
}

function changeStep(view: RunView, address: string, change: Partial<StepView>): void {
  const step = view.stepsByAddress.get(address);
  if (step === undefined || hasEnded(step.stage)) return;
  count(view, step, -1);
  const { credits: before } = step;
  Object.assign(step, change);
  count(view, step, 1);
  const { stage } = step;
  const task = view.tasks.get(step.task);
  if (task !== undefined) task.spent += (step.credits ?? 0) - (before ?? 0);
  if (!isSettled(stage)) return;
  settleStep(view.settled, { address, stage });
  if (!view.keepsDone) view.stepsByAddress.delete(address);
}

function count(view: RunView, step: Pick<StepView, 'task' | 'stage'>, by: 1 | -1): void {
  const stages = view.tasks.get(step.task)?.stages;
  stages?.set(step.stage, (stages.get(step.stage) ?? 0) + by);
}
