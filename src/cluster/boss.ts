import type { PgBoss } from 'pg-boss';
import type { Database, Sql } from './database.ts';
import { loadPackage } from './load-packages.ts';
import { protocol } from './protocol.ts';

/** The job queue of PostgreSQL, beside our tables in the same database. */
export type Boss = PgBoss;

/** The queue of one job, to be the head of an account. */
export function headQueue(account: string): string {
  return `head-v${protocol}-${account}`;
}

/** The queue of an account's files that go to one place. */
export function filesQueue(account: string, place: string): string {
  return `files-v${protocol}-${account}-${place}`;
}

/** A transaction, as the queue wants it. */
export function ofBoss(tx: Sql) {
  return {
    executeSql: async (text: string, values?: unknown[]) => ({ rows: await tx.query(text, values) }),
  };
}

/** Every setting that is not the default, and why. Dead workers are noticed within 10 + 5 s. */
const settings = {
  schema: 'mediabatch_queue',
  // Missed heartbeats are looked for at this pace, by the slower of both.
  superviseIntervalSeconds: 5,
  monitorIntervalSeconds: 5,
  // No schedules: nothing here happens by the clock.
  schedule: false,
  // Few calls at once; the rows of runs have connections of their own.
  max: 3,
  application_name: 'mediabatch-queue',
  // Of the client below it: a connection whose other end is gone without a word is given up.
  query_timeout: 60_000,
  options: '-c idle_in_transaction_session_timeout=10000',
} as const;

export const headQueueOptions = {
  // One head at a time, whether it waits or works.
  policy: 'exclusive', // I37
  heartbeatSeconds: 10,
  // Failures of steps are the ledger's business; that of a head is that another one goes on. Without end.
  retryLimit: 1_000_000,
  retryDelay: 0,
  // A head works as long as runs are open. The longest that there is; heads hand over before.
  expireInSeconds: 86_399,
  retentionSeconds: 14 * 86_400,
  deleteAfterSeconds: 3600,
} as const;

export const filesQueueOptions = {
  policy: 'standard',
  heartbeatSeconds: 10,
  // A file is given up by the head that wants it, never by the queue.
  retryLimit: 1_000_000,
  retryDelay: 0,
  expireInSeconds: 86_399,
  retentionSeconds: 14 * 86_400,
  // What a file became stands in our own table.
  deleteAfterSeconds: 60,
} as const;

/**
 * Opens the queue. `supervises`: looks for dead workers; one that only submits does not. `onError`: told of what the
 * queue does by itself; calls of ours go through `database.persist`.
 */
export async function openBoss(
  url: string,
  database: Database,
  { supervises, onError }: { supervises: boolean; onError(error: unknown): void },
): Promise<Boss> {
  const { PgBoss: Queue } = await loadPackage('pg-boss', () => import('pg-boss'));
  return database.persist(async () => {
    const boss = new Queue({ connectionString: url, ...settings, supervise: supervises });
    boss.on('error', onError);
    try {
      return await boss.start();
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error;
    }
  });
}
