import { HeadLostError } from '../../contract/errors.ts';
import { Batches } from '../../ground/batches.ts';
import type { Database, Sql } from '../database/database.ts';

/** Write access of a leader. It ends when another leader of the account has a higher epoch. */
export interface Term {
  account: string;
  epoch: number;
}

/**
 * The guard of a head's statement: `held` has a row as long as the epoch is the highest, and keeps it so until the
 * statement is over. To be combined with what it guards: `INSERT … SELECT … FROM held`. Its values are $1 and $2.
 */
export const held = 'WITH held AS (SELECT id, epoch FROM mediabatch.account WHERE id = $1 AND epoch = $2 FOR SHARE)';

/**
 * Carries out a statement that begins with `held` and ends by telling whether it held: `SELECT count(*) … FROM held` as
 * `held`. Throws `HeadLostError`, and then nothing was written.
 */
export async function writeAsHead(
  sql: Database | Sql,
  { account, epoch }: Term,
  text: string,
  values: readonly unknown[],
): Promise<void> {
  const [row] = await sql.query<{ held: string }>(text, [account, epoch, ...values]);
  if (Number(row?.held ?? 0) === 0) throw new HeadLostError();
}

/**
 * The next epoch of an account, in a statement that updates it. It is at least the server's time in seconds, so that in a
 * database that was put back from an older copy no epoch is given out a second time.
 */
export const raisedEpoch = 'greatest(epoch + 1, extract(epoch FROM clock_timestamp())::bigint)';

/** Characters of one row at most. */
const mostCharacters = 1 << 20;

/**
 * Appends texts to a table in order: those that wait share a row and a statement. Rows are numbered by their writer, so one
 * whose answer was lost is not written twice. The first failure sticks: what came after it is not known to be in order.
 */
export class RowWriter {
  readonly #batches: Batches<string>;
  #failure: { error: unknown } | undefined;

  /** `statement`: guarded; takes account, epoch, run, number and text. `gather`: see `Batches`. */
  constructor(
    database: Database,
    { run, ...term }: Term & { run: string },
    { statement, gather }: { statement: string; gather?(): Promise<void> },
  ) {
    // A number of its own: two writers of one run and epoch are not taken for one.
    let no = Math.floor(Math.random() * 2 ** 32) * 2 ** 20;
    const write = async (texts: readonly string[]) => {
      if (this.#failure !== undefined) throw this.#failure.error;
      no += 1;
      await writeAsHead(database, term, statement, [run, no, texts.join('')]).catch((error: unknown) => {
        this.#failure ??= { error };
        throw error;
      });
    };
    this.#batches = new Batches({
      write,
      ...(gather && { gather }),
      sizeOf: ({ length }) => length,
      mostSize: mostCharacters,
    });
  }

  /** Resolves when it is durable. */
  append(text: string): Promise<void> {
    return this.#batches.add(text);
  }

  /** Resolves when nothing waits. */
  idle(): Promise<void> {
    return this.#batches.idle();
  }

  /** Nothing is appended any more. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }
}
