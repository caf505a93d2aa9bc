import type { Outcome, RunEvent } from './event.generated.ts';
import type { RunLine } from './run-line.generated.ts';

/**
 * Events of a run, from which screen, log and summary are derived. Each step has exactly one `step-started` or
 * `step-left`, except a step left at a gate, which may start later.
 */
export type { RunEvent } from './event.generated.ts';

export type RunFact = Timeless<RunEvent>;

type Timeless<Event> = Event extends RunEvent ? Omit<Event, 'at'> : never;

export type StepOutcome = Outcome;

/** Outcomes that require an action of the user. Other outcomes are consequences, or left to the next run. */
export const failedOutcomes: readonly StepOutcome[] = ['failed', 'refused', 'unresolved', 'lost'];

export type StepFinished = Extract<RunEvent, { event: 'step-finished' }>;

/** Why the run sends no further create request. It still collects running jobs. */
export type StopReason = Extract<RunEvent, { event: 'spending-stopped' }>['because'];

export type { RunClose, RunHeader, RunTime } from './run-line.generated.ts';

export type HistoryLine = RunEvent | RunLine;
