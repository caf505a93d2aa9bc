import type { Clock } from '../../contract/clock.ts';
import type { Boss } from '../database/boss.ts';
import type { Database } from '../database/database.ts';
import { forgottenAfter, spread } from './worker-row.ts';

/** Time between two looks for dead workers while runs are open, in ms. */
const stepMs = 1500;
/** Steps between two looks while none is, and between two times that what is over goes. */
const seldom = 80;

export interface HouseOptions {
  db: Database;
  boss: Pick<Boss, 'supervise' | 'deleteQueue'>;
  clock: Clock;
  account: string;
  /** Ended runs of the account go after this time, in ms. Undefined: they stay. */
  keepMs?: number | undefined;
  /** Whether no run of the account is open. */
  isQuiet(): boolean;
  /** Aborted: stop. */
  signal: AbortSignal;
}

/**
 * Has the queue look for dead workers, whose work is free then, and deletes what is over. A worker that has nothing to do
 * looks seldom: each look costs the server, and there may be hundreds.
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
      // The server is away, or refuses: calls that matter say so.
    }
    await clock.sleep(spread(clock, stepMs), signal);
  }
}

/**
 * Times that lie in the future, because the clock of the server was set back, count from now on: a dead worker would be
 * noticed only when that time has come.
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
      // A submit locks the account, too, and creates the queue again.
      await sql.query('SELECT FROM mediabatch.account WHERE id = $1 FOR UPDATE', [id]);
      const stillIdle = await sql.query<{ name: string }>(`${idleQueues} AND queue.name = $1`, [name]);
      if (stillIdle.length > 0) await boss.deleteQueue(name);
    });
  }
}

/** Queues of accounts that have no open run, and no worker that could still look at them. */
const idleQueues = `SELECT account.id, queue.name FROM mediabatch_queue.queue
  JOIN mediabatch.account ON account.id = split_part(queue.name, '-', 3)
  WHERE queue.created_on < now() - interval '5 minutes'
    AND NOT EXISTS (SELECT FROM mediabatch.run WHERE run.account = account.id AND state = 'open')
    AND NOT EXISTS (SELECT FROM mediabatch.worker WHERE worker.account = account.id
      AND beat > now() - interval '${forgottenAfter}')`;
