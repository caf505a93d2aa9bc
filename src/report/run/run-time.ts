import { rangeText } from '../plan/plan-time.ts';

/**
 * When a run is expected to end. `low`, `high`: seconds from now, between which it ends in three runs of five; `until`:
 * what that is the time to, when not the end. `unknown`: too few jobs of a kind were timed. `overdue`: it should have
 * ended by now.
 */
export type Remaining = { low: number; high: number; until?: 'gate' } | 'unknown' | 'overdue';

/** What is known of time beside the events of a run. Asked once for each frame, so the answers are ready. */
export interface RunTimes {
  /** Undefined: nothing is said about it, as while a run waits for credits. */
  remaining?(): Remaining | undefined;
  /** Usual duration of the job of a step, in ms; undefined when too few like it were timed. */
  usual?(address: string): number | undefined;
}

/** `about 5–7 min left`; `short`: `~5–7 min`. */
export function remainingText(remaining: Remaining, { short }: { short: boolean }): string {
  if (remaining === 'unknown') return 'time unknown';
  if (remaining === 'overdue') return 'longer than usual';
  const { low, high, until } = remaining;
  const range = rangeText({ lowMs: low * 1000, highMs: high * 1000 });
  if (short) return `~${range}`;
  return `about ${range} ${until === 'gate' ? 'to the first gate' : 'left'}`;
}
