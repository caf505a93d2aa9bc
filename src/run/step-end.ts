import type { StepOutcome } from '../contract/event.ts';

/** How a step ended, for the loop and the event stream. */
export interface StepEnd {
  outcome: StepOutcome;
  /** Charged in this run; `null` unknown. */
  credits: number | null;
  error?: string | undefined;
  /** `unresolved`, and the next run can find out by the same key, or by the service's list. */
  recoverable?: true;
  /** `running`, and its job has finished: only its files are not saved. */
  unsaved?: true;
}
