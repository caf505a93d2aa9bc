import type { Outcome, RunEvent } from './event.generated.ts';
import type { RunLine } from './run-line.generated.ts';

/**
 * Events of a run, in the past tense, as plain JSON with IDs. The screen, the log and the summary are all derived from
 * this one stream. Each step of the plan has exactly one `step-started` or `step-left`. Only a step left at a gate may
 * begin later, or be left for another reason, when people decide during the run.
 */
export type { RunEvent } from './event.generated.ts';

export type RunFact = Timeless<RunEvent>;

type Timeless<Event> = Event extends RunEvent ? Omit<Event, 'at'> : never;

export type StepOutcome = Outcome;

/** Outcomes that need a person's attention; all others follow from these, or are left to the next run. */
export const failedOutcomes: readonly StepOutcome[] = ['failed', 'refused', 'unresolved', 'lost'];

export type StepFinished = Extract<RunEvent, { event: 'step-finished' }>;

/** Reason why no further create request is sent in this run. Running jobs are still collected. */
export type StopReason = Extract<RunEvent, { event: 'spending-stopped' }>['because'];

export type { RunClose, RunHeader, RunTime } from './run-line.generated.ts';

export type HistoryLine = RunEvent | RunLine;
