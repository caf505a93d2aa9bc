import type { RunEvent } from '../contract/event.ts';
import type { Database, Sql } from './database.ts';
import { held, type Term } from './guarded.ts';
import { RowWriter } from './row-writer.ts';
import { runChannel } from './runs.ts';

const insertEvents = `${held},
  written AS (
    INSERT INTO mediabatch.event (run, epoch, no, text)
    SELECT $3::text, epoch, $4::bigint, $5::text FROM held ON CONFLICT DO NOTHING) -- I33
  SELECT count(*) AS held, pg_notify('${runChannel}', $3::text) FROM held`;

const gatherMs = 100;
const mostGathered = 256;
/** Rows that are read at once. */
const mostRows = 50;

/** Writes the events of a run for whoever is attached. Nothing waits for it: events that are lost with a head were news. */
export class EventWriter {
  readonly #writer: RowWriter;
  readonly #onLost: (error: unknown) => void;
  #gathered: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `onLost`: called with the first failure, `HeadLostError` among them. */
  constructor(database: Database, term: Term & { run: string }, onLost: (error: unknown) => void) {
    this.#writer = new RowWriter(database, term, insertEvents);
    this.#onLost = onLost;
  }

  add(event: RunEvent): void {
    this.#gathered.push(`${JSON.stringify(event)}\n`);
    if (this.#gathered.length >= mostGathered) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), gatherMs);
  }

  /** Resolves when everything that was added is on record, or is lost. */
  async flush(): Promise<void> {
    this.#write();
    await this.#writer.idle();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#gathered.length === 0) return;
    const text = this.#gathered.join('');
    this.#gathered = [];
    this.#writer.append(text).catch(this.#onLost);
  }
}

/** Events of a run in order, after the row `after` ('0': all). `next`: the last row that was read; `isLast`: there were no more. */
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
