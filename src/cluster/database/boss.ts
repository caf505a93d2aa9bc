import type { PgBoss } from 'pg-boss';
import { loadPackage } from '../load-packages.ts';
import type { Database, Sql } from './database.ts';
import { isMadeAlready } from './server-errors.ts';

/**
 * Version of the data that submitters, heads and fetch workers exchange through tables and queues. Part of the queue
 * names, so that workers of another version get no jobs.
 */
export const protocol = 1;

/** Channel with an account's id as payload, notified when workers may have something to do. */
export const workChannel = 'mediabatch_work';
/** Channel with a run's id as payload, notified when the run's records change. */
export const runChannel = 'mediabatch_run';

export type Boss = PgBoss;

export function headQueue(account: string): string {
  return `head-v${protocol}-${account}`;
}

export function filesQueue(account: string, place: string): string {
  return `files-v${protocol}-${account}-${place}`;
}

export function ofBoss(tx: Sql) {
  return {
    executeSql: async (text: string, values?: unknown[]) => ({ rows: await tx.query(text, values) }),
  };
}

/** Queue settings that differ from the defaults. Dead workers are detected within 10 + 4 s, see `keepHouse`. */
const settings = {
  schema: 'mediabatch_queue',
  // Supervision runs only when `keepHouse` requests it, and at most at this interval.
  supervise: false,
  monitorIntervalSeconds: 2,
  // Deletes finished jobs within minutes instead of a day.
  maintenanceIntervalSeconds: 60,
  // Schedules and job dependencies are not used.
  schedule: false,
  flowIntervalSeconds: 3600,
} as const;

/** Maximum number of repeated attempts to create the queue while other processes create it as well. */
const mostRaces = 10;

export const headQueueOptions = {
  // At most one queued or active job: there is one head at a time.
  policy: 'exclusive', // I37
  heartbeatSeconds: 10,
  // Failures of steps are in the lock. When a head fails, another one continues, without limit.
  retryLimit: 1_000_000,
  retryDelay: 0,
  // A head works as long as runs are open. This is the maximum of the queue; heads hand over before.
  expireInSeconds: 86_399,
  retentionSeconds: 14 * 86_400,
  deleteAfterSeconds: 3600,
} as const;

export const filesQueueOptions = {
  policy: 'standard',
  heartbeatSeconds: 10,
  // The head decides when a file is given up, not the queue.
  retryLimit: 1_000_000,
  retryDelay: 0,
  expireInSeconds: 86_399,
  retentionSeconds: 14 * 86_400,
  // The result of a file is in our own table.
  deleteAfterSeconds: 60,
} as const;

/**
 * Opens the queue on the connections of the database. Errors of its background work are ignored, because our own calls
 * report theirs.
 */
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
        // The schema, a table or a queue may be created by another process at the same moment.
        if (tries === mostRaces || !isMadeAlready(error)) throw error;
      }
    }
  });
}
