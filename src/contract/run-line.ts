/** Lines of a run's history that are not its events. */
export type { RunClose, RunHeader, RunLine, RunTime } from './run-line.generated.ts';
