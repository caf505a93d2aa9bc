import type { RunEvent } from '../../contract/event.ts';
import { safeJson } from '../safe-text.ts';

/** Somebody who is told everything that happens in a run. */
export interface RunReporter {
  on(event: RunEvent): void;
  /** After the last event, or in the middle when the run breaks off. Resolves when nothing more will be written. */
  end(): Promise<void>;
}

/** JSON Lines of the events as they are; `schemas/event.schema.json` describes a line. `end`: what writes them is closed. */
export function createEventLines(
  write: (text: string) => void,
  end: () => Promise<void> = async () => {},
): RunReporter {
  return { on: (event) => write(`${safeJson(event)}\n`), end };
}
