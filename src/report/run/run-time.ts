import type { RunEvent, RunTime } from '../../contract/event.ts';
import { safeJson } from '../safe-text.ts';

/** Time until a run is expected to end. `unknown`: no job of a kind was timed. `overdue`: it should have ended by now. */
export type Remaining = NonNullable<RunTime['remaining']>;

/** Times that are known in addition to the events of a run. */
export interface RunTimes {
  /** Undefined while nothing is known to say, for example while a run waits for credits. */
  remaining?(): Remaining | undefined;
  /** The last answer of `remaining`. */
  shown?(): Remaining | undefined;
  /** Usual duration of the job of a step, in ms; undefined if none like it was timed. */
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
