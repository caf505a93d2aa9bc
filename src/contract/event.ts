import type { Output } from '../lock/record.ts';
import type { Action, PlanRow, PlanTotals } from '../plan/plan.ts';

/** Why no further create is sent in this run. What runs is still collected. */
export type StopReason = 'budget' | 'balance' | 'auth' | 'signal' | 'disk' | 'unreachable' | 'failure' | 'error';

/** How a step ended in this run. */
export type StepOutcome =
  | 'done'
  | 'failed' // its job failed, or its paid output could not be saved (the job is kept)
  | 'refused' // the create was definitely refused: nothing was charged
  | 'unresolved' // it is not known whether the create was charged
  | 'lost' // the service no longer knows the job
  | 'running' // this run stopped watching; the job is paid and goes on
  | 'blocked' // a step it needs did not finish
  | 'unneeded' // the part of another step's output that it is about does not exist
  | 'left'; // not started: budget, balance, signal, …

/**
 * Everything that happens in a run, in the past tense, as plain JSON with ids, never objects.
 * The screen, the log and the summary are folds of this one stream.
 */
export type RunEvent = { at: string } & RunFact;

export type RunFact =
  | {
      event: 'run-started';
      version: 1;
      campaign: string;
      steps: number;
      concurrency: number;
      totals: PlanTotals;
      /** Each task with its number of steps, in the manifest's order. */
      tasks: { id: string; kind: string; steps: number }[];
    }
  /** A step's action has begun. Each step of the plan has exactly one of `step-started`, `step-left`. */
  | { event: 'step-started'; address: string; task: string; kind: string; action: Action }
  /** Nothing is done for this step, as planned (`keep`, `failed`, `orphan`, …). */
  | {
      event: 'step-left';
      address: string;
      task: string;
      kind: string;
      action: Action;
      reason: string;
      /** `blocked`: by what. */
      blockedBy?: NonNullable<PlanRow['blockedBy']>;
    }
  /** The intent is durable, the price is reserved; the request leaves next. `reserved` null: price unknown (a canary). */
  | { event: 'create-intended'; address: string; key: string; reserved: number | null }
  | { event: 'create-repeated'; address: string; because: string; afterMs: number }
  /** Its answer was lost; the service's list is searched for its job, after a wait. */
  | { event: 'create-searched'; address: string; because: string }
  /** The list shows its job; `job-created` follows. */
  | { event: 'job-found'; address: string; jobId: string }
  /** An open send is asked about that no step of this run asks about by itself; `send-settled` follows. */
  | { event: 'send-asked'; address: string; key: string }
  /** `done`: its job is known, or that none was made. Otherwise it stays open. */
  | {
      event: 'send-settled';
      address: string;
      key: string;
      outcome: StepOutcome;
      jobId?: string;
      /** Charged in this run; `null` unknown. */
      credits: number | null;
      error?: string;
    }
  | {
      event: 'job-created';
      address: string;
      jobId: string;
      credits: number | null;
      balance: number | null;
      model?: string;
    }
  | { event: 'job-progressed'; address: string; jobId: string; status: string }
  | { event: 'job-completed'; address: string; jobId: string }
  /** A failed job is bought again, as `retry:` allows. The intent of the new purchase follows. */
  | { event: 'job-retried'; address: string; jobId: string; error: string; left: number }
  /** A file is in the media library. `bytes` null: the service fetched it by itself. */
  | { event: 'file-uploaded'; address: string; assetId: string; bytes: number | null }
  | { event: 'output-saved'; address: string; output: Output; how: 'downloaded' | 'moved' | 'restored' }
  | {
      event: 'step-finished';
      address: string;
      task: string;
      outcome: StepOutcome;
      /** Charged for this step in this run; `null` unknown. */
      credits: number | null;
      error?: string;
      /** `unresolved`, and the next run can find out by the same key, or by the service's list. */
      recoverable?: true;
    }
  /** The whole account of money, after every change of it. */
  | {
      event: 'credits-changed';
      spentNow: number;
      spentEver: number;
      held: number;
      budget: number | null;
      balance: number | null;
    }
  | { event: 'spending-stopped'; because: StopReason; detail: string }
  /** The account is empty: until then one create is tried from time to time. Times are ISO 8601, UTC. */
  | { event: 'credits-awaited'; until: string; nextTryAt: string; detail: string }
  | { event: 'spending-resumed'; waitedMs: number }
  | { event: 'noticed'; address?: string; message: string }
  | {
      event: 'run-ended';
      exit: number;
      outcomes: { [outcome in StepOutcome]?: number };
      kept: number;
      spentNow: number;
      spentEver: number;
      held: number;
      balance: number | null;
      elapsedMs: number;
    };
