import type { RunEvent, RunTime } from '../../contract/event.ts';
import { safeJson } from '../safe-text.ts';

/** Remaining time. `unknown`: a kind has no duration. `overdue`: the run should have ended by now. */
export type Remaining = NonNullable<RunTime['remaining']>;

export interface RunTimes {
  /** Undefined while no time can be given, for example while a run waits for credits. */
  remaining?(): Remaining | undefined;
  /** Last result of `remaining`, without a new computation. */
  shown?(): Remaining | undefined;
}

export interface RunReporter {
  on(event: RunEvent): void;
  /** Called after the last event, or when the run is aborted. Resolves when nothing more will be written. */
  end(): Promise<void>;
}

/** Writes events unchanged as JSON Lines; `schemas/event.schema.json` describes a line. `end`: the output is closed. */
export function createEventLines(
  write: (text: string) => void,
  end: () => Promise<void> = async () => {},
): RunReporter {
  return { on: (event) => write(`${safeJson(event)}\n`), end };
}
