/** First and last lines of a run's history, between which are its events. */
export type { RunClose, RunHeader, RunLine } from './run-line.generated.ts';
