import type { RunEvent } from '../contract/event.ts';
import type { Database } from './database.ts';
import { readEvents } from './events.ts';
import { readLines } from './lines.ts';
import type { RunRecord } from './run-record.ts';
import { readRun, runChannel } from './runs.ts';

/** News are told; this is for what was missed, in ms. */
const lookEveryMs = 1000;

export interface RunWatcher {
  /** Hears each line of the lock once, with its LF, in order, those from before as well. The next come when it resolves. */
  onLines(lines: readonly string[]): Promise<void>;
  /** Hears each event once, after the lines that were there before it. */
  onEvents(events: readonly RunEvent[]): void;
  /** Aborted: nobody watches any more. */
  signal: AbortSignal;
}

/** Follows a run from its beginning. Resolves with its record when it has ended, or its head has put it aside; `undefined`: the engine does not know it. */
export async function watchRun(
  database: Database,
  id: string,
  { onLines, onEvents, signal }: RunWatcher,
): Promise<RunRecord | 'left' | undefined> {
  let wake = () => {};
  let isNews = false;
  const listening = await database.listen(runChannel, (payload) => {
    if (payload !== undefined && payload !== id) return;
    isNews = true;
    wake();
  });
  const seen = { lines: '0', events: '0' };
  try {
    while (!signal.aborted) {
      isNews = false;
      const record = await readRun(database, id);
      if (record === undefined) return undefined;
      // An event is told when the lines that it tells of are in the lock of whoever hears it.
      const events: RunEvent[] = [];
      for (let isLast = false; !isLast; ) {
        const read = await readEvents(database, id, seen.events);
        events.push(...read.events);
        ({ next: seen.events, isLast } = read);
      }
      for (let isLast = false; !isLast; ) {
        const read = await readLines(database, id, seen.lines);
        await onLines(read.lines);
        ({ next: seen.lines, isLast } = read);
      }
      onEvents(events);
      if (record.state === 'ended' || record.error !== null) return record;
      if (isNews) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, lookEveryMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
      });
      signal.removeEventListener('abort', wake);
    }
    return 'left';
  } finally {
    await listening.close();
  }
}
