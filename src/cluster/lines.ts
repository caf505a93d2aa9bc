import type { LockFile } from '../contract/state.ts';
import type { Database, Sql } from './database.ts';
import { held, type Term, writeAsHead } from './guarded.ts';
import { RowWriter } from './row-writer.ts';

const insertLine = `${held},
  written AS (
    INSERT INTO mediabatch.line (run, epoch, no, text)
    SELECT $3::text, epoch, $4::bigint, $5::text FROM held ON CONFLICT DO NOTHING) -- I31
  SELECT count(*) AS held FROM held`;

/** The lines of a run's lock in SQL, as its head appends them. Rejects with `HeadLostError` when another head has taken over. */
export function openLines(database: Database, term: Term & { run: string }): LockFile {
  const writer = new RowWriter(database, term, insertLine);
  const { run, account, epoch } = term;
  return {
    path: `the lock of run ${run}`,
    append(line) {
      if (line.indexOf('\n') !== line.length - 1) throw new Error('internal error: not one line of the lock');
      return writer.append(line);
    },
    async replace(given) {
      const lines = repeatable(given);
      await writer.idle();
      await database.transaction(async (sql) => {
        const text = `${held}, gone AS (DELETE FROM mediabatch.line WHERE run = $3 AND EXISTS (SELECT FROM held))
          SELECT count(*) AS held FROM held`;
        await writeAsHead(sql, { account, epoch }, text, [run]);
        await insertRows(sql, run, lines);
      });
    },
    async close() {
      await writer.idle();
      writer.fail(new Error(`internal error: the lines of run ${run} are closed`));
    },
  };
}

/** Makes items last for a transaction, which may have to be done again: an iterator gives its items only once. */
export function repeatable<T>(items: Iterable<T>): readonly T[] {
  return Array.isArray(items) ? items : [...items];
}

/** Rows that are read at once. */
const mostRows = 200;

/** Lines that are there before any head, as few rows. */
export async function insertRows(sql: Sql, run: string, lines: Iterable<string>): Promise<void> {
  let [text, no] = ['', 0];
  const write = async () => {
    no += 1;
    await sql.query('INSERT INTO mediabatch.line (run, epoch, no, text) VALUES ($1, 0, $2, $3)', [run, no, text]);
    text = '';
  };
  for (const line of lines) {
    text += line;
    if (text.length >= 1 << 18) await write();
  }
  if (text !== '') await write();
}

/**
 * Lines of a run in order, each with its LF, after the row `after` ('0': all). `submitted`: only those that a submit brought.
 * `next`: the last row that was read; `isLast`: there were no more.
 */
export async function readLines(
  sql: Sql,
  run: string,
  after: string = '0',
  which: 'all' | 'submitted' = 'all',
): Promise<{ lines: string[]; next: string; isLast: boolean }> {
  const rows = await sql.query<{ seq: string; text: string }>(
    `SELECT seq, text FROM mediabatch.line WHERE run = $1 AND seq > $2 ${which === 'all' ? '' : 'AND epoch = 0'}
     ORDER BY seq LIMIT ${mostRows}`,
    [run, after],
  );
  const lines = rows.flatMap(({ text }) => text.split(/(?<=\n)/));
  return { lines, next: rows.at(-1)?.seq ?? after, isLast: rows.length < mostRows };
}
