import { systemClock } from '../../contract/clock.ts';
import type { RunEvent } from '../../contract/event.ts';
import type { Database } from '../database/database.ts';
import { readAllLines, readLines } from '../head/lines.ts';
import { ReportedEvents } from '../head/reported-events.ts';
import { makeWakeUp } from '../wake-up.ts';
import { readEvents } from './events.ts';
import type { RunRecord } from './run-record.ts';
import { readRun, runChannel } from './runs.ts';

/** Polling interval in ms: a fallback for missed notifications. */
const lookEveryMs = 1000;

interface RunWatcher {
  /**
   * Receives all lines of the lock in order, each with its LF, including earlier ones, and all of them again at the
   * end. Resolves with the number of lines that were new; the next batch is delivered after that. `read`: the number of
   * lines so far, and the epoch of the last one.
   */
  onLines(lines: readonly string[], read?: { epoch: string; lines: number }): Promise<number>;
  /** Receives each event once, after the lock lines that it refers to. */
  onEvents(events: readonly RunEvent[]): void;
  /** Called with the user when the run is paused, and with undefined when it is resumed. */
  onPaused?(by: string | undefined): void;
  signal: AbortSignal;
}

/**
 * Follows a run from its start. Resolves with its record when it ends or is put aside, with 'left' after an abort, and
 * with `undefined` for an unknown run.
 */
export async function watchRun(
  database: Database,
  id: string,
  { onLines, onEvents, onPaused, signal }: RunWatcher,
): Promise<RunRecord | 'left' | undefined> {
  const wakeUp = makeWakeUp({ clock: systemClock, isFor: (payload) => payload === id });
  const listening = await database.listen(runChannel, wakeUp.onNotification);
  const seen = { lines: '0', events: '0' };
  let count = 0;
  let isPaused = false;
  const reported = new ReportedEvents();
  const tell = (events: readonly RunEvent[]) => {
    for (const event of events) reported.note(event);
    onEvents(events);
  };
  try {
    while (!signal.aborted) {
      const record = await readRun(database, id);
      if (record === undefined) return undefined;
      if ((record.paused !== null) !== isPaused) {
        isPaused = !isPaused;
        onPaused?.(isPaused ? (record.origin.pausedBy ?? '') : undefined);
      }
      // Events are read before lines, so that the listener has the lines that an event refers to.
      const { events, next } = await readAllEvents(database, id, seen.events);
      seen.events = next;
      for (let isLast = false; !isLast; ) {
        const read = await readLines(database, id, seen.lines);
        count += read.lines.length;
        await onLines(read.lines, read.epoch === undefined ? undefined : { epoch: read.epoch, lines: count });
        ({ next: seen.lines, isLast } = read);
      }
      tell(events);
      if (record.state === 'ended' || record.error !== null) {
        // After the database was restored from a copy, new rows may have numbers that were already read.
        const missed = await onLines(await readAllLines(database, id)); // I46 (again)
        if (missed > 0) tell((await readAllEvents(database, id)).events.filter((event) => isOfOthers(event, reported)));
        return record;
      }
      await wakeUp.within(lookEveryMs, signal);
    }
    return 'left';
  } finally {
    await listening.close();
  }
}

async function readAllEvents(
  database: Database,
  id: string,
  after = '0',
): Promise<{ events: RunEvent[]; next: string }> {
  const events: RunEvent[] = [];
  for (let [next, isLast] = [after, false]; ; ) {
    const read = await readEvents(database, id, next);
    for (const event of read.events) events.push(event);
    ({ next, isLast } = read);
    if (isLast) return { events, next };
  }
}

function isOfOthers(event: RunEvent, reported: ReportedEvents): boolean {
  return 'address' in event && !reported.hasEnded(event.address);
}
