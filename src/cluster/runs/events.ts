import { systemClock } from '../../contract/clock.ts';
import type { RunEvent } from '../../contract/event.ts';
import type { Database, Sql } from '../database/database.ts';
import { held, RowWriter, type Term } from '../head/guarded.ts';
import { makeWakeUp } from '../wake-up.ts';
import { runChannel } from './runs.ts';

const insertEvents = `${held},
  written AS (
    INSERT INTO mediabatch.event (run, epoch, no, text)
    SELECT $3::text, epoch, $4::bigint, $5::text FROM held ON CONFLICT DO NOTHING) -- I33
  SELECT count(*) AS held, pg_notify('${runChannel}', $3::text) FROM held`;

const gatherMs = 100;
const mostRows = 50;

/**
 * Writes the events of a run for attached clients. Writes are not awaited, so events may be lost when a leader crashes.
 */
export class EventWriter {
  readonly #writer: RowWriter;
  readonly #wakeUp = makeWakeUp({ clock: systemClock, isFor: () => false });
  #onLost: (error: unknown) => void;

  /** `onLost`: called with the first failure, which may be a `HeadLostError`. */
  constructor(database: Database, term: Term & { run: string }, onLost: (error: unknown) => void) {
    this.#writer = new RowWriter(database, term, {
      statement: insertEvents,
      gather: () => this.#wakeUp.within(gatherMs),
    });
    this.#onLost = onLost;
  }

  add(event: RunEvent): void {
    this.#writer.append(`${JSON.stringify(event)}\n`).catch((error: unknown) => {
      this.#onLost(error);
      this.#onLost = () => {};
    });
  }

  async flush(): Promise<void> {
    this.#wakeUp.wake();
    await this.#writer.idle();
  }
}

/**
 * Reads events of a run in order, after the row `after` ('0' for all). Returns `next`, the last row that was read, and
 * `isLast`, whether no rows are left.
 */
export async function readEvents(
  sql: Sql,
  run: string,
  after: string = '0',
): Promise<{ events: RunEvent[]; next: string; isLast: boolean }> {
  const rows = await sql.query<{ seq: string; text: string }>(
    `SELECT seq, text FROM mediabatch.event WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT ${mostRows}`,
    [run, after],
  );
  const lines = rows.flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
  const events = lines.map((line) => JSON.parse(line) as RunEvent);
  return { events, next: rows.at(-1)?.seq ?? after, isLast: rows.length < mostRows };
}
