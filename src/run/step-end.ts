import type { JobEnd } from '../contract/answer.ts';
import type { RunFact, StepOutcome } from '../contract/event.ts';
import type { Ports } from '../contract/ports.ts';
import { defined } from '../ground/values.ts';
import type { Need, StepOrder } from '../plan/plan.ts';
import { laterPost } from '../plan/posts/post-record.ts';

export interface StepEnd {
  outcome: StepOutcome;
  /** Credits charged in this run; `null`: unknown. */
  credits: number | null;
  error?: string | undefined;
  /** Set for an `unresolved` step that the next run can resolve, by the same idempotency key or the service's list. */
  recoverable?: true;
  because?: 'no-operation' | 'key-known';
  /** For a step that could not begin: the step that it needs. */
  need?: Need;
  /** Requirement of `expect` that an output does not meet. */
  unmet?: string;
  /** Set for a `running` step whose job has finished: only its files are not saved. */
  unsaved?: true;
}

/** Returns the event that reports the end of a step to readers of the event stream. */
export function stepFinished({ address, task, kind, request }: StepOrder, end: StepEnd, now: number): RunFact {
  const { outcome, credits, error, need, because, recoverable, unsaved } = end;
  return {
    ...{ event: 'step-finished', address, task, outcome, credits },
    ...defined({ error, need, because, recoverable, unsaved }),
    ...(outcome === 'done' && laterPost(kind, request, now)),
  };
}

/** Stops all buying after a refused credential or an unreachable host, independent of the step that met it. */
export function stopFor(
  { because, error }: Pick<Extract<JobEnd, { is: 'unwatched' }>, 'because' | 'error'>,
  { gate }: Pick<Ports, 'gate'>,
): void {
  if (because === 'auth' || because === 'unreachable') gate.stop(because, error);
}
