import type { Outcome, RunEvent } from './event.generated.ts';
import type { RunLine } from './run-line.generated.ts';

/**
 * Event of a run. Screen, log and summary are derived from events. Each step has exactly one `step-started` or
 * `step-left`. Exception: a step that was skipped at a gate may start later.
 */
export type { RunEvent } from './event.generated.ts';

export type RunFact = Timeless<RunEvent>;

type Timeless<Event> = Event extends RunEvent ? Omit<Event, 'at'> : never;

export type StepOutcome = Outcome;

export const failedOutcomes: readonly StepOutcome[] = ['failed', 'refused', 'unresolved', 'lost'];

/** Why the run sends no more create requests. The run still saves the outputs of running jobs. */
export type StopReason = Extract<RunEvent, { event: 'spending-stopped' }>['because'];

export type { RunClose, RunHeader, RunTime } from './run-line.generated.ts';

export type HistoryLine = RunEvent | RunLine;
