import type { Clock } from '../../contract/clock.ts';
import type { Boss } from '../database/boss.ts';
import type { Database } from '../database/database.ts';
import { forgottenAfter, spread } from './worker-row.ts';

/** Interval between checks for dead workers while runs are open, in ms. */
const stepMs = 1500;
/** Number of steps between checks while no run is open, and between deletions of finished data. */
const seldom = 80;

interface HouseOptions {
  db: Database;
  boss: Pick<Boss, 'supervise' | 'deleteQueue'>;
  clock: Clock;
  account: string;
  keepMs?: number | undefined;
  /** Whether no run of the account is open. */
  isQuiet(): boolean;
  signal: AbortSignal;
}

/**
 * Makes the queue detect dead workers, so that their jobs become free, and deletes finished data. An idle worker checks
 * less often: each check loads the server, and there may be hundreds of workers.
 */
export async function keepHouse(options: HouseOptions): Promise<void> {
  const { db, boss, clock, isQuiet, signal } = options;
  for (let step = 0; !signal.aborted; step += 1) {
    const isDue = step % seldom === 0;
    try {
      if (db.awaySince === undefined && (isDue || !isQuiet())) {
        await db.query(endFuture);
        await boss.supervise();
      }
      if (db.awaySince === undefined && isDue) await tidy(options);
    } catch {
      // The server is away or refuses. Other calls report that.
    }
    await clock.sleep(spread(clock, stepMs), signal);
  }
}

/**
 * Resets times that are in the future because the server's clock was set back. Otherwise a dead worker would be noticed
 * only when the clock reaches them again.
 */
const endFuture = `WITH beats AS (
    UPDATE mediabatch_queue.job SET heartbeat_on = now() WHERE state = 'active' AND heartbeat_on > now())
  UPDATE mediabatch_queue.queue SET monitor_claim_on = least(monitor_claim_on, now()), monitor_on = least(monitor_on, now()),
    maintain_on = least(maintain_on, now())
  WHERE greatest(monitor_claim_on, monitor_on, maintain_on) > now()`;

async function tidy({ db, boss, account, keepMs }: HouseOptions): Promise<void> {
  if (keepMs !== undefined) {
    await db.query(
      `DELETE FROM mediabatch.run WHERE account = $1 AND state = 'ended' AND ended < now() - $2 * interval '1 ms'`,
      [account, keepMs],
    );
  }
  await db.query(
    `DELETE FROM mediabatch.spent WHERE account = $1
     AND month < to_char(now() AT TIME ZONE 'UTC' - interval '1 month', 'YYYY-MM')`,
    [account],
  );
  for (const { id, name } of await db.query<{ id: string; name: string }>(idleQueues)) {
    await db.transaction(async (sql) => {
      // A submit locks the account as well, and creates the queue again.
      await sql.query('SELECT FROM mediabatch.account WHERE id = $1 FOR UPDATE', [id]);
      const stillIdle = await sql.query<{ name: string }>(`${idleQueues} AND queue.name = $1`, [name]);
      if (stillIdle.length > 0) await boss.deleteQueue(name);
    });
  }
}

/** Queues of accounts without open runs and without a worker that could still poll them. */
const idleQueues = `SELECT account.id, queue.name FROM mediabatch_queue.queue
  JOIN mediabatch.account ON account.id = split_part(queue.name, '-', 3)
  WHERE queue.created_on < now() - interval '5 minutes'
    AND NOT EXISTS (SELECT FROM mediabatch.run WHERE run.account = account.id AND state = 'open')
    AND NOT EXISTS (SELECT FROM mediabatch.worker WHERE worker.account = account.id
      AND beat > now() - interval '${forgottenAfter}')`;
