import type { RunEvent } from '../../contract/event.ts';
import { safeJson } from '../safe-text.ts';

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
