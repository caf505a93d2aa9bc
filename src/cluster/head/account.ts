import { HeadLostError } from '../../contract/errors.ts';
import { type Boss, headQueue, headQueueOptions, ofBoss } from '../database/boss.ts';
import type { Database, Sql } from '../database/database.ts';
import { workChannel } from '../runs/runs.ts';
import type { SpentSums } from './account-spending.ts';
import { raisedEpoch } from './guarded.ts';
import { Lease, leaseMs } from './lease.ts';

/** After this time in ms, a leader hands the account over to the first candidate: a job of the queue may take at most a day. */
export const longestSittingMs = 23 * 3_600_000;

/** The part of the queue that is needed here. */
export type HeadBoss = Pick<Boss, 'createQueue' | 'send' | 'fetch' | 'touch' | 'complete' | 'fail'>;

interface Seats {
  db: Database;
  boss: HeadBoss;
  account: string;
}

/** To be called once before waiting for the leadership, and by each submit. */
export async function openHeadQueue({ db, boss, account }: Seats): Promise<void> {
  await db.persist(() => boss.createQueue(headQueue(account), headQueueOptions));
}

/** Sends the leader's queue job again if it was deleted. Does nothing if there is a leader or the job waits. */
export async function offerHead({ db, boss, account }: Seats): Promise<void> {
  await db.persist(() => boss.send(headQueue(account), { account }));
}

/** Whether the job was still that attempt's; the declared type of the answer is empty. */
function isDone(answer: object): boolean {
  return 'affected' in answer && answer.affected === 1;
}

interface SeatOptions extends Seats {
  worker: string;
}

/** Takes leadership of the account if it is free. Undefined if another worker leads, or no leader is needed. */
export async function takeSeat(options: SeatOptions): Promise<Seat | undefined> {
  const { db, boss, account } = options;
  // No job here has a time to start. One that the server's clock had not reached when it was set back would wait for that.
  const [job] = await db.persist(() => boss.fetch(headQueue(account), { ignoreStartAfter: true }));
  if (job === undefined) return undefined;
  const { id, retryCount } = job;
  return openSeat({ ...options, job: { id, retryCount } });
}

type Job = { id: string; retryCount: number };

interface Raised {
  epoch: string;
  /** Time, in ms, that creates of earlier leaders can still take; 0 if the last one left with none under way. */
  waitMs: number;
  /** Maximum over the open runs and the creates of earlier leaders. */
  createTimeoutMs: number;
}

/**
 * Raises the epoch: from here on no statement of an earlier head passes. In one transaction with the job's heartbeat,
 * because this call may have waited for the server until the job was somebody else's.
 */
async function openSeat(options: SeatOptions & { job: Job }): Promise<Seat | undefined> {
  const { db, boss, account, worker, job } = options;
  const lease = new Lease();
  let raised = undefined as Raised | undefined;
  await lease.confirm(async () => {
    raised = await db.transaction(async (tx) => {
      const touched = await boss.touch(headQueue(account), job, { db: ofBoss(tx) });
      if (!isDone(touched)) return undefined;
      const [row] = await tx.query<Raised>(
        `WITH last AS (SELECT head, create_timeout_ms AS ms FROM mediabatch.account WHERE id = $1 FOR UPDATE),
           longest AS (SELECT coalesce(max((settings->>'createTimeoutMs')::float8), 0) AS ms FROM mediabatch.run
             WHERE account = $1 AND state = 'open')
         UPDATE mediabatch.account SET head = $2, beat = now(),
           epoch = ${raisedEpoch},
           create_timeout_ms = CASE WHEN last.head IS NULL THEN longest.ms ELSE greatest(longest.ms, last.ms) END
         FROM last, longest WHERE id = $1
         RETURNING epoch::text AS epoch, CASE WHEN last.head IS NULL THEN 0 ELSE ${leaseMs} + last.ms END AS "waitMs", create_timeout_ms AS "createTimeoutMs"`,
        [account, worker],
      );
      return row;
    });
    return raised !== undefined;
  });
  if (raised === undefined) return undefined;
  return new Seat({ ...options, ...raised, lease, epoch: Number(raised.epoch) });
}

/**
 * The leadership of an account, while this process has it. A leader that leaves with no request in flight removes its name
 * from it; the next leader then has nothing to wait for.
 */
export class Seat {
  readonly epoch: number;
  readonly lease: Lease;
  readonly #options: SeatOptions & { job: Job };
  readonly #waitMs: number;
  #createTimeoutMs: number;
  #spent: () => SpentSums | undefined = () => undefined;
  readonly #takenAt = performance.now();

  constructor(
    options: SeatOptions & { job: Job; lease: Lease; epoch: number; waitMs: number; createTimeoutMs: number },
  ) {
    this.epoch = options.epoch;
    this.lease = options.lease;
    this.#options = options;
    this.#waitMs = options.waitMs;
    this.#createTimeoutMs = options.createTimeoutMs;
  }

  /**
   * How long creates of earlier heads must still not be looked up or sent again, in ms. By then a head that was frozen with
   * a create in its hands has lost its lease, and the service has closed a connection on which nothing came, or has
   * answered.
   */
  waitMs(): number {
    return Math.max(0, this.#waitMs - (performance.now() - this.#takenAt));
  }

  /** To be called before creates may take this long, in ms: the next leader waits for the longest. */
  async allowCreates(timeoutMs: number): Promise<void> {
    if (timeoutMs <= this.#createTimeoutMs) return;
    const { db, account } = this.#options;
    const held = await db.query<{ id: string }>(
      `UPDATE mediabatch.account SET create_timeout_ms = greatest(create_timeout_ms, $3)
       WHERE id = $1 AND epoch = $2 RETURNING id`,
      [account, this.epoch, timeoutMs],
    );
    if (held.length === 0) throw new HeadLostError();
    this.#createTimeoutMs = timeoutMs;
  }

  /** Writes these facts to the account's row at each heartbeat and at the end of leadership. */
  tellSpent(spent: () => SpentSums | undefined): void {
    this.#spent = spent;
  }

  /** Sends one heartbeat. Resolves with whether this process still leads. */
  async beat(): Promise<boolean> {
    const { db, boss, account, job } = this.#options;
    const touched = await db.persist(() => boss.touch(headQueue(account), job));
    if (!isDone(touched)) return false;
    const held = await db.query<{ id: string }>(
      'UPDATE mediabatch.account SET beat = now(), spent = coalesce($3, spent) WHERE id = $1 AND epoch = $2 RETURNING id',
      [account, this.epoch, this.#spentJson()],
    );
    return held.length === 1;
  }

  /**
   * Gives the leadership up: the job is done when no run is open, and free for the next leader at once otherwise. A submit
   * locks the account too, so its run is seen here, or it finds the job gone and sends another. `isClean`: nothing of this
   * head is on its way to the service, so the next one waits for what is left of this one's wait. `error`: what it left for,
   * shown until a head leaves without one.
   */
  async leave({
    isClean,
    error,
  }: {
    isClean: boolean;
    error?: string;
  }): Promise<'no run is open' | 'handed over' | 'taken over'> {
    const { db, boss, account, job } = this.#options;
    const waitMs = this.waitMs();
    const how = await db.transaction(async (tx) => {
      if (!(await this.#lock(tx))) return 'taken over';
      await tx.query(
        `UPDATE mediabatch.account SET error = $2, head = CASE WHEN $3 AND $5::float8 = 0 THEN NULL ELSE head END, spent = coalesce($4, spent),
           create_timeout_ms = CASE WHEN $3 THEN greatest(0, $5::float8 - ${leaseMs}) ELSE create_timeout_ms END
         WHERE id = $1`,
        [account, error ?? null, isClean, this.#spentJson(), waitMs],
      );
      const queue = headQueue(account);
      if (!(await hasOpenRun(tx, account))) {
        await boss.complete(queue, job, null, { db: ofBoss(tx) });
        return 'no run is open';
      }
      await boss.fail(queue, job, { message: 'handed over' }, { db: ofBoss(tx) });
      await tx.query('SELECT pg_notify($1, $2)', [workChannel, account]);
      return 'handed over';
    });
    this.lease.lose();
    return how;
  }

  #spentJson(): string | null {
    const spent = this.#spent();
    return spent === undefined ? null : JSON.stringify(spent);
  }

  async #lock(tx: Sql): Promise<boolean> {
    const { account } = this.#options;
    const held = await tx.query<{ id: string }>(
      'SELECT id FROM mediabatch.account WHERE id = $1 AND epoch = $2 FOR UPDATE',
      [account, this.epoch],
    );
    return held.length === 1;
  }
}

async function hasOpenRun(tx: Sql, account: string): Promise<boolean> {
  const text = `SELECT id FROM mediabatch.run WHERE account = $1 AND state = 'open' LIMIT 1`;
  return (await tx.query(text, [account])).length > 0;
}
