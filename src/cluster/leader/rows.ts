import { LeadershipLostError } from '../../contract/errors.ts';
import type { RunEvent } from '../../contract/event.ts';
import type { LockFile } from '../../contract/ports.ts';
import { Batches } from '../../ground/batches.ts';
import { defined } from '../../ground/values.ts';
import { requireOneLine } from '../../lock/split-lines.ts';
import { runChannel } from '../database/boss.ts';
import type { Database, Sql } from '../database/database.ts';

/** Leadership of a worker. Once the account has a higher epoch, the database rejects writes of this leadership. */
export interface Term {
  account: string;
  epoch: number;
}

export type RunTerm = Term & { run: string };

/**
 * SQL prefix of a leader's write. `held` selects the account $1 if its epoch is still $2, and locks the account's row
 * until the transaction ends. The write selects its rows from `held`: `INSERT … SELECT … FROM held`.
 */
export const held = 'WITH held AS (SELECT id, epoch FROM mediabatch.account WHERE id = $1 AND epoch = $2 FOR SHARE)';

/**
 * Executes a statement that starts with `held` and ends with `SELECT count(*) AS held FROM held`. If the epoch is
 * outdated, throws `LeadershipLostError` and writes nothing.
 */
export async function writeAsLeader(
  sql: Database | Sql,
  { account, epoch }: Term,
  text: string,
  values: readonly unknown[],
): Promise<void> {
  const [row] = await sql.query<{ held: string }>(text, [account, epoch, ...values]);
  if (Number(row?.held ?? 0) === 0) throw new LeadershipLostError();
}

/** SQL for the next epoch. An epoch is at least the time in seconds, so a restored database does not repeat epochs. */
export const raisedEpoch = 'greatest(epoch + 1, extract(epoch FROM clock_timestamp())::bigint)';

const insertLine = `${held},
  written AS (
    INSERT INTO mediabatch.line (run, epoch, no, text)
    SELECT $3::text, epoch, $4::bigint, $5::text FROM held ON CONFLICT DO NOTHING) -- I31
  SELECT count(*) AS held FROM held`;

export const insertEvents = `${held},
  written AS (
    INSERT INTO mediabatch.event (run, epoch, no, text)
    SELECT $3::text, epoch, $4::bigint, $5::text FROM held ON CONFLICT DO NOTHING) -- I33
  SELECT count(*) AS held, pg_notify('${runChannel}', $3::text) FROM held`;

const mostCharacters = 1 << 20;

/**
 * Appends texts to a table in order. Texts that wait for a write share a row. Rows are numbered, so that a repeated
 * statement writes no duplicate. After a failed append, all later appends fail.
 */
export class RowWriter {
  readonly #batches: Batches<string>;
  #failure: { error: unknown } | undefined;

  /** `statement`: a guarded INSERT with the parameters account, epoch, run, number and text. */
  constructor(
    database: Database,
    { run, ...term }: RunTerm,
    { statement, gather }: { statement: string; gather?(): Promise<void> },
  ) {
    // The first number is random, so that two writers with the same run and epoch do not use the same numbers.
    let no = Math.floor(Math.random() * 2 ** 32) * 2 ** 20;
    const write = async (texts: readonly string[]) => {
      if (this.#failure !== undefined) throw this.#failure.error;
      no += 1;
      await writeAsLeader(database, term, statement, [run, no, texts.join('')]).catch((error: unknown) => {
        this.#failure ??= { error };
        throw error;
      });
    };
    this.#batches = new Batches({
      write,
      ...defined({ gather }),
      sizeOf: ({ length }) => length,
      mostSize: mostCharacters,
    });
  }

  append(text: string): Promise<void> {
    return this.#batches.add(text);
  }

  idle(): Promise<void> {
    return this.#batches.idle();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
  }
}

/** Opens the lock of a run in the database. Writes reject with `LeadershipLostError` if another worker took over. */
export function openLines(database: Database, term: RunTerm): LockFile {
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
        await writeAsLeader(sql, { account, epoch }, text, [run]);
        await insertRows(sql, run, lines);
      });
    },
    async close() {
      await writer.idle();
      writer.fail(new Error(`internal error: the lines of run ${run} are closed`));
    },
  };
}

export function repeatable<T>(items: Iterable<T>): readonly T[] {
  return Array.isArray(items) ? items : [...items];
}

/** Inserts lock lines from a client. Lines restored from a local lock have negative numbers. */
export async function insertRows(
  sql: Sql,
  run: string,
  lines: Iterable<string>,
  { epoch, no: first }: { epoch: number; no: 1 | -1 } = { epoch: 0, no: 1 },
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

const mostRows = 100;

interface Page {
  lines: string[];
  last: string;
  epoch: string;
}

/** Reads the rows of a table page by page. The condition `where` refers to `values` as $1, $2, … */
export async function* readPages(
  sql: Sql,
  table: 'line' | 'event' | 'spent',
  { where, values, after = '0' }: { where: string; values: readonly unknown[]; after?: string },
): AsyncGenerator<Page> {
  for (let [last, isLast] = [after, false]; !isLast; ) {
    const rows = await sql.query<{ seq: string; epoch: string; text: string }>(
      `SELECT seq, epoch, text FROM mediabatch.${table} WHERE ${where} AND seq > $${values.length + 1}
       ORDER BY seq LIMIT ${mostRows}`,
      [...values, last],
    );
    isLast = rows.length < mostRows;
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.seq;
    yield { lines: rows.flatMap(({ text }) => text.split(/(?<=\n)/)), last, epoch: end.epoch };
  }
}

export async function readAllLines(sql: Sql, run: string, which: 'all' | 'submitted' = 'all'): Promise<string[]> {
  const where = which === 'all' ? 'run = $1' : 'run = $1 AND epoch = 0';
  const pages: string[][] = [];
  for await (const { lines } of readPages(sql, 'line', { where, values: [run] })) pages.push(lines);
  return pages.flat();
}

export async function* readEvents(
  sql: Sql,
  run: string,
  after = '0',
): AsyncGenerator<{ events: RunEvent[]; last: string }> {
  for await (const { lines, last } of readPages(sql, 'event', { where: 'run = $1', values: [run], after })) {
    yield { events: lines.map((line) => JSON.parse(line) as RunEvent), last };
  }
}

/** Reads other runs' lock lines about the same idempotency keys or fingerprints. A retried step has another key. */
export async function readEarlierLines(
  sql: Sql,
  { id, account, campaign }: { id: string; account: string; campaign: string },
  { keys, fingerprints }: { keys: ReadonlySet<string>; fingerprints: ReadonlySet<string> },
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

export async function countLines(sql: Sql, run: string, epoch: string): Promise<number> {
  const [row] = await sql.query<{ lines: number }>(
    `SELECT coalesce(sum(length(text) - length(replace(text, E'\\n', ''))), 0)::int AS lines
     FROM mediabatch.line WHERE run = $1 AND epoch <= $2`,
    [run, epoch],
  );
  return row?.lines ?? 0;
}
