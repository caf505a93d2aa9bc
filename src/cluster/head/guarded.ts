import { HeadLostError } from '../../contract/errors.ts';
import { Batches } from '../../ground/batches.ts';
import { defined } from '../../ground/values.ts';
import type { Database, Sql } from '../database/database.ts';

/** Leadership term of a head. Its writes are rejected once another leader of the account has a higher epoch. */
export interface Term {
  account: string;
  epoch: number;
}

/**
 * SQL prefix that guards a write of a head: `held` has a row only while the term's epoch is the account's current one,
 * and locks it until the transaction ends. The guarded statement selects from it (`INSERT … SELECT … FROM held`). Uses
 * $1 (account) and $2 (epoch).
 */
export const held = 'WITH held AS (SELECT id, epoch FROM mediabatch.account WHERE id = $1 AND epoch = $2 FOR SHARE)';

/**
 * Executes a statement that begins with `held` and returns `SELECT count(*) AS held … FROM held`. Throws
 * `HeadLostError` if the epoch is outdated; nothing was written then.
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
 * SQL expression for the next epoch of an account. It is at least the server's time in seconds, so that no epoch is
 * issued a second time after the database was restored from an older copy.
 */
export const raisedEpoch = 'greatest(epoch + 1, extract(epoch FROM clock_timestamp())::bigint)';

const mostCharacters = 1 << 20;

/**
 * Appends texts to a table in order. Waiting texts share a row and a statement. The writer numbers the rows, so that a
 * row whose answer was lost is not written twice. After a failure every append fails, because order is no longer
 * certain.
 */
export class RowWriter {
  readonly #batches: Batches<string>;
  #failure: { error: unknown } | undefined;

  /** `statement`: a guarded INSERT with account, epoch, run, number and text as parameters. `gather`: see `Batches`. */
  constructor(
    database: Database,
    { run, ...term }: Term & { run: string },
    { statement, gather }: { statement: string; gather?(): Promise<void> },
  ) {
    // A random start, so that rows of two writers with the same run and epoch do not get the same number.
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
      ...defined({ gather }),
      sizeOf: ({ length }) => length,
      mostSize: mostCharacters,
    });
  }

  /** Resolves when the text is durable. */
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
