import type { JobEnd } from '../contract/answer.ts';
import type { RunFact, StepOutcome } from '../contract/event.ts';
import type { Ports } from '../contract/ports.ts';
import { defined } from '../ground/values.ts';
import type { Need, StepOrder } from '../plan/plan.ts';
import { laterPost } from '../plan/posts/post-record.ts';

export interface StepEnd {
  outcome: StepOutcome;
  /** Credits that this run was charged for the step; `null`: unknown. */
  credits: number | null;
  error?: string | undefined;
  /** True if the step is `unresolved`, but the next run may resolve it. */
  recoverable?: true;
  because?: 'no-operation' | 'key-known';
  /** The step that a blocked step needs. */
  need?: Need;
  /** Requirement in `expect:` that an output of the step does not meet. */
  unmet?: string;
  /** True if the step counts as `running` because its job has finished, but its files are not saved. */
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

/** Stops purchases of the run if the service refused the API key or its host cannot be reached. */
export function stopFor(
  { because, error }: Pick<Extract<JobEnd, { is: 'unwatched' }>, 'because' | 'error'>,
  { gate }: Pick<Ports, 'gate'>,
): void {
  if (because === 'auth' || because === 'unreachable') gate.stop(because, error);
}
