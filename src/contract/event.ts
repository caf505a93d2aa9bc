import type { Outcome, RunEvent } from './event.generated.ts';
import type { RunLine } from './run-line.generated.ts';

/**
 * Everything that happens in a run, in the past tense, as plain JSON with IDs, never objects. The screen, the log and
 * the summary are folds of this one stream. Each step of the plan has exactly one of `step-started`, `step-left`; only one that
 * was left at a gate may begin after all, or be left for another reason, when people decide during the run.
 */
export type { RunEvent } from './event.generated.ts';

/** An event that has no time yet. */
export type RunFact = Timeless<RunEvent>;

type Timeless<Event> = Event extends RunEvent ? Omit<Event, 'at'> : never;

/** Outcome of a step in this run. */
export type StepOutcome = Outcome;

/** Reason why no further create is sent in this run. Running jobs are still collected. */
export type StopReason = Extract<RunEvent, { event: 'spending-stopped' }>['because'];

export type { RunClose, RunHeader, RunTime } from './run-line.generated.ts';

/** A line of a run's history: one of its events, or one of those around them. */
export type HistoryLine = RunEvent | RunLine;
