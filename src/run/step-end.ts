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
  /** Set if the next run can resolve the `unresolved` step. */
  recoverable?: true;
  because?: 'no-operation' | 'key-known';
  /** The step that a blocked step needs. */
  need?: Need;
  /** Requirement of `expect` that an output does not meet. */
  unmet?: string;
  /** Set if the job of a `running` step has finished, but its files are not saved. */
  unsaved?: true;
}

export function stepFinished({ address, task, kind, request }: StepOrder, end: StepEnd, now: number): RunFact {
  const { outcome, credits, error, need, because, recoverable, unsaved } = end;
  return {
    ...{ event: 'step-finished', address, task, outcome, credits },
    ...defined({ error, need, because, recoverable, unsaved }),
    ...(outcome === 'done' && laterPost(kind, request, now)),
  };
}

/** Stops all buying after a refused credential or an unreachable host. */
export function stopFor(
  { because, error }: Pick<Extract<JobEnd, { is: 'unwatched' }>, 'because' | 'error'>,
  { gate }: Pick<Ports, 'gate'>,
): void {
  if (because === 'auth' || because === 'unreachable') gate.stop(because, error);
}
