import { HeadLostError } from '../contract/errors.ts';
import type { Database, Sql } from './database.ts';

/** The right of a head to write: it ends when another head of the account has a higher epoch. */
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
