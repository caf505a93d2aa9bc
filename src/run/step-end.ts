import type { JobEnd } from '../contract/answer.ts';
import type { RunFact, StepOutcome } from '../contract/event.ts';
import type { Ports } from '../contract/ports.ts';

type StepFinished = Extract<RunFact, { event: 'step-finished' }>;

/** How a step ended, for the loop and the event stream. */
export interface StepEnd {
  outcome: StepOutcome;
  /** Charged in this run; `null` unknown. */
  credits: number | null;
  error?: string | undefined;
  /** `unresolved`, and the next run can find out by the same key, or by the service's list. */
  recoverable?: true;
  /** Words on what to do about it. */
  because?: StepFinished['because'];
  /** An output does not fit: what is not as wanted. */
  unmet?: string;
  /** `running`, and its job has finished: only its files are not saved. */
  unsaved?: true;
}

/** Ends all buying at a refused credential or an unreachable host, whichever step met it. */
export function stopFor(end: Extract<JobEnd, { is: 'unwatched' }>, { gate }: Pick<Ports, 'gate'>): void {
  switch (end.because) {
    case 'auth':
    case 'unreachable':
      gate.stop(end.because, end.error);
      return;
    case 'signal':
    case 'patience':
      return;
    default:
      end.because satisfies never;
  }
}
