import type { RunEvent } from './event.ts';
import type { RunLine } from './run-line.generated.ts';

export type { RunClose, RunHeader, RunTime } from './run-line.generated.ts';

/** A line of a run's history: one of its events, or one of those around them. */
export type HistoryLine = RunEvent | RunLine;
