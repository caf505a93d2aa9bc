import type { RunEvent } from '../../contract/event.ts';
import { safeJson } from '../safe-text.ts';

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

/** Receives everything that happens in a run. */
export interface RunReporter {
  on(event: RunEvent): void;
  /** Called after the last event, or when the run breaks off. Resolves when nothing more will be written. */
  end(): Promise<void>;
}

/** Events as JSON Lines, unchanged; `schemas/event.schema.json` describes a line. `end`: the output is closed. */
export function createEventLines(
  write: (text: string) => void,
  end: () => Promise<void> = async () => {},
): RunReporter {
  return { on: (event) => write(`${safeJson(event)}\n`), end };
}
