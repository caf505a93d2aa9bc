import type { LockFile } from '../../contract/ports.ts';
import { requireOneLine } from '../../lock/split-lines.ts';
import type { Database, Sql } from '../database/database.ts';
import { held, RowWriter, type Term, writeAsHead } from './guarded.ts';

const insertLine = `${held},
  written AS (
    INSERT INTO mediabatch.line (run, epoch, no, text)
    SELECT $3::text, epoch, $4::bigint, $5::text FROM held ON CONFLICT DO NOTHING) -- I31
  SELECT count(*) AS held FROM held`;

/** Opens the lock of a run that is stored in the database. Writes reject with `HeadLostError` after a takeover. */
export function openLines(database: Database, term: Term & { run: string }): LockFile {
  const writer = new RowWriter(database, term, { statement: insertLine });
  const { run, account, epoch } = term;
  return {
    path: `the lock of run ${run}`,
    append(line) {
      return writer.append(requireOneLine(line));
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

/** Copies an iterator's items into an array, because a transaction that is repeated has to read them again. */
export function repeatable<T>(items: Iterable<T>): readonly T[] {
  return Array.isArray(items) ? items : [...items];
}

const mostRows = 200;

/** Inserts lines that no leader writes, in few rows: initial lines, with ascending numbers, and restored lines. */
export async function insertRows(
  sql: Sql,
  run: string,
  lines: Iterable<string>,
  { epoch, no: first }: { epoch: string; no: number } = { epoch: '0', no: 1 },
): Promise<void> {
  let [text, no] = ['', first];
  const write = async () => {
    await sql.query('INSERT INTO mediabatch.line (run, epoch, no, text) VALUES ($1, $2, $3, $4)', [
      run,
      epoch,
      no,
      text,
    ]);
    no += Math.sign(first);
    text = '';
  };
  for (const line of lines) {
    text += line;
    if (text.length >= 1 << 18) await write();
  }
  if (text !== '') await write();
}

/**
 * Reads lines of a run in order, each with its LF, after the row `after` ('0' for all). `submitted`: only the initial
 * lines. Returns `next`, the last row that was read; `epoch`, the epoch of that row; `isLast`, whether no rows are
 * left.
 */
export async function readLines(
  sql: Sql,
  run: string,
  after: string = '0',
  which: 'all' | 'submitted' = 'all',
): Promise<{ lines: string[]; next: string; epoch: string | undefined; isLast: boolean }> {
  const rows = await sql.query<{ seq: string; epoch: string; text: string }>(
    `SELECT seq, epoch, text FROM mediabatch.line WHERE run = $1 AND seq > $2 ${which === 'all' ? '' : 'AND epoch = 0'}
     ORDER BY seq LIMIT ${mostRows}`,
    [run, after],
  );
  const lines = rows.flatMap(({ text }) => text.split(/(?<=\n)/));
  const last = rows.at(-1);
  return { lines, next: last?.seq ?? after, epoch: last?.epoch, isLast: rows.length < mostRows };
}

export async function readAllLines(sql: Sql, run: string, which: 'all' | 'submitted' = 'all'): Promise<string[]> {
  const pages: string[][] = [];
  for (let [after, isLast] = ['0', false]; !isLast; ) {
    const page = await readLines(sql, run, after, which);
    pages.push(page.lines);
    ({ next: after, isLast } = page);
  }
  return pages.flat();
}

/**
 * Reads lines that heads wrote in other runs of the campaign with one of these idempotency keys or fingerprints, as far
 * as the engine still has them. A retry has its own idempotency key, so the fingerprint finds it.
 */
export async function readEarlierLines(
  sql: Sql,
  { id, account, campaign, keys, fingerprints }: EarlierLines,
): Promise<string[]> {
  const rows = await sql.query<{ text: string }>(
    `SELECT text FROM mediabatch.line JOIN mediabatch.run ON run.id = line.run
     WHERE account = $1 AND campaign = $2 AND run.id <> $3 AND line.epoch > 0 ORDER BY seq`,
    [account, campaign, id],
  );
  const isWanted = (line: string) =>
    keys.has(/"key":"([^"]+)"/.exec(line)?.[1] ?? '') ||
    fingerprints.has(/"fingerprint":"([^"]+)"/.exec(line)?.[1] ?? '');
  return rows.flatMap(({ text }) => text.split(/(?<=\n)/).filter(isWanted));
}

interface EarlierLines {
  id: string;
  account: string;
  campaign: string;
  keys: ReadonlySet<string>;
  fingerprints: ReadonlySet<string>;
}

/** Counts the lines written up to an epoch, including submitted ones. The count never decreases. */
export async function countLines(sql: Sql, run: string, epoch: string): Promise<number> {
  const [row] = await sql.query<{ lines: number }>(
    `SELECT coalesce(sum(length(text) - length(replace(text, E'\\n', ''))), 0)::int AS lines
     FROM mediabatch.line WHERE run = $1 AND epoch <= $2`,
    [run, epoch],
  );
  return row?.lines ?? 0;
}
