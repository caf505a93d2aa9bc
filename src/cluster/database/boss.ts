import type { PgBoss } from 'pg-boss';
import { loadPackage } from '../load-packages.ts';
import type { Database, Sql } from './database.ts';
import { isMadeAlready } from './server-errors.ts';

/** Version of stored data. Queue names contain this version, so that workers of other versions get no jobs. */
export const protocol = 1;

/** Channel of account IDs. A notification means that a worker of the account may have work. */
export const workChannel = 'mediabatch_work';
/** Channel of run IDs. A notification means that the run's records have changed. */
export const runChannel = 'mediabatch_run';

export type Boss = PgBoss;

export function leaderQueue(account: string): string {
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

const settings = {
  schema: 'mediabatch_queue',
  // pg-boss does not supervise its jobs by itself: `keepHouse` calls `supervise`, which works at most at this interval.
  supervise: false,
  monitorIntervalSeconds: 2,
  // Cleaning once a minute, pg-boss deletes finished jobs within minutes instead of a day.
  maintenanceIntervalSeconds: 60,
  // mediabatch does not use schedules and job dependencies of pg-boss.
  schedule: false,
  flowIntervalSeconds: 3600,
} as const;

const mostRaces = 10;

const queueOptions = {
  heartbeatSeconds: 10,
  // The queue always retries a failed leader job. For a file, the leader decides how often the download is retried.
  retryLimit: 1_000_000,
  retryDelay: 0,
  // Maximum of pg-boss. Leaders hand over earlier.
  expireInSeconds: 86_399,
  retentionSeconds: 14 * 86_400,
} as const;

export const leaderQueueOptions = {
  ...queueOptions,
  // The queue accepts only one queued or active job, so an account has at most one leader.
  policy: 'exclusive', // I37
  deleteAfterSeconds: 3600,
} as const;

export const filesQueueOptions = { ...queueOptions, policy: 'standard', deleteAfterSeconds: 60 } as const;

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
        // The error may only mean that another process created the schema, a table or a queue at the same moment.
        if (tries === mostRaces || !isMadeAlready(error)) throw error;
      }
    }
  });
}
