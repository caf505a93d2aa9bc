import { systemClock } from '../../contract/clock.ts';
import type { RunEvent } from '../../contract/event.ts';
import { runChannel } from '../database/boss.ts';
import type { Database } from '../database/database.ts';
import { ReportedEvents } from '../leader/reported-events.ts';
import { readAllLines, readEvents, readPages } from '../leader/rows.ts';
import { makeWakeUp } from '../wake-up.ts';
import type { RunRecord } from './run-record.ts';
import { readRun } from './runs.ts';

const pollMs = 1000;

interface RunWatcher {
  /**
   * Receives the run's lock lines in order, and all of them again at the end. Resolves with the number of new lines.
   * `read`: number of lines so far, and epoch of the last line.
   */
  onLines(lines: readonly string[], read?: { epoch: string; lines: number }): Promise<number>;
  /** Receives each event once, after the lock lines that the event refers to. */
  onEvents(events: readonly RunEvent[]): void;
  /** Called with the user who paused the run, and with `undefined` when the run is resumed. */
  onPaused?(by: string | undefined): void;
  signal: AbortSignal;
}

export async function watchRun(
  database: Database,
  id: string,
  { onLines, onEvents, onPaused, signal }: RunWatcher,
): Promise<RunRecord | 'left' | undefined> {
  const wakeUp = makeWakeUp({ clock: systemClock, isFor: (payload) => payload === id });
  const leaveChannel = database.listen(runChannel, wakeUp.onNotification);
  const seen = { lines: '0', events: '0' };
  let count = 0;
  let isPaused = false;
  const reported = new ReportedEvents();
  const notify = (events: readonly RunEvent[]) => {
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
      // Reads events before lock lines, so that the listener has the lines to which an event refers.
      const events: RunEvent[] = [];
      for await (const page of readEvents(database, id, seen.events)) {
        events.push(...page.events);
        seen.events = page.last;
      }
      const pages = readPages(database, 'line', { where: 'run = $1', values: [id], after: seen.lines });
      for await (const { lines, last, epoch } of pages) {
        count += lines.length;
        await onLines(lines, { epoch, lines: count });
        seen.lines = last;
      }
      notify(events);
      if (record.state === 'ended' || record.error !== null) {
        // After the database was restored from a backup, new rows may have numbers that older rows had before.
        const missed = await onLines(await readAllLines(database, id)); // I46 (again)
        if (missed === 0) return record;
        const late: RunEvent[] = [];
        const isLate = (event: RunEvent) => 'address' in event && !reported.ended.has(event.address);
        for await (const page of readEvents(database, id)) late.push(...page.events.filter(isLate));
        notify(late);
        return record;
      }
      await wakeUp.within(pollMs, signal);
    }
    return 'left';
  } finally {
    leaveChannel();
  }
}
