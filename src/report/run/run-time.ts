/**
 * When a run is expected to end. `low`, `high`: seconds from now, between which it ends in three runs of five; `until`:
 * what that is the time to, when not the end. `unknown`: too few jobs of a kind were timed. `overdue`: it should have
 * ended by now.
 */
export type Remaining = { low: number; high: number; until?: 'gate' } | 'unknown' | 'overdue';

/** Times that are known beside the events of a run. Asked once for each frame, so the answers are ready. */
export interface RunTimes {
  /** Undefined: nothing is said about it, as while a run waits for credits. */
  remaining?(): Remaining | undefined;
  /** Usual duration of the job of a step, in ms; undefined when too few like it were timed. */
  usual?(address: string): number | undefined;
}
