import type { JobEnd } from '../contract/answer.ts';
import type { StepFinished, StepOutcome } from '../contract/event.ts';
import type { Ports } from '../contract/ports.ts';

export interface StepEnd {
  outcome: StepOutcome;
  /** Credits charged in this run; `null`: unknown. */
  credits: number | null;
  error?: string | undefined;
  /** Set for an `unresolved` step that the next run can resolve, by the same idempotency key or the service's list. */
  recoverable?: true;
  because?: StepFinished['because'];
  /** Requirement of `expect` that an output does not meet. */
  unmet?: string;
  /** Set for a `running` step whose job has finished: only its files are not saved. */
  unsaved?: true;
}

/** Stops all buying after a refused credential or an unreachable host, independent of the step that met it. */
export function stopFor(
  { because, error }: Pick<Extract<JobEnd, { is: 'unwatched' }>, 'because' | 'error'>,
  { gate }: Pick<Ports, 'gate'>,
): void {
  if (because === 'auth' || because === 'unreachable') gate.stop(because, error);
}
