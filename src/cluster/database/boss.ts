import type { PgBoss } from 'pg-boss';
import { loadPackage } from '../load-packages.ts';
import { protocol } from '../protocol.ts';
import type { Database, Sql } from './database.ts';
import { isMadeAlready } from './server-errors.ts';

/** The job queue in PostgreSQL, in the same database as our tables. */
export type Boss = PgBoss;

export function headQueue(account: string): string {
  return `head-v${protocol}-${account}`;
}

export function filesQueue(account: string, place: string): string {
  return `files-v${protocol}-${account}-${place}`;
}

/** A transaction, as the queue wants it. */
export function ofBoss(tx: Sql) {
  return {
    executeSql: async (text: string, values?: unknown[]) => ({ rows: await tx.query(text, values) }),
  };
}

/** Every setting that is not the default, and why. Dead workers are noticed within 10 + 4 s, see `keepHouse`. */
const settings = {
  schema: 'mediabatch_queue',
  // Supervision runs on request only, and at most at this pace.
  supervise: false,
  monitorIntervalSeconds: 2,
  // Jobs that are over go within minutes, not within a day.
  maintenanceIntervalSeconds: 60,
  // No schedules, and no flows: nothing here happens by the clock, or after something else.
  schedule: false,
  flowIntervalSeconds: 3600,
} as const;

/** How often others may be quicker in making the queue before that is an error. */
const mostRaces = 10;

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

/** Opens the queue, through the connections of the database. What it does by itself may fail: calls of ours say so. */
export async function openBoss(database: Pick<Database, 'persist' | 'ask'>): Promise<Boss> {
  const { PgBoss: Queue } = await loadPackage('pg-boss', () => import('pg-boss'));
  const ask = async (text: string, values?: unknown[]) => (await database.ask(text, values)) as { rows: unknown[] };
  const open = async (): Promise<Boss> => {
    const boss = new Queue({ ...settings, db: { executeSql: ask } });
    boss.on('error', () => {});
    try {
      return await boss.start();
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error;
    }
  };
  return database.persist(async () => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await open();
      } catch (error) {
        // Its schema, its tables, its queues: each may be made by another process meanwhile.
        if (tries === mostRaces || !isMadeAlready(error)) throw error;
      }
    }
  });
}
