import { type Boss, headQueue, headQueueOptions } from './boss.ts';
import type { Database, Sql } from './database.ts';
import { Lease, leaseMs } from './lease.ts';
import { workChannel } from './runs.ts';

/** After this time a head hands the account over, to whoever is first, in ms: the queue lets no job take longer than a day. */
export const longestSittingMs = 23 * 3_600_000;

/** The part of the queue that is needed here. */
export type HeadBoss = Pick<Boss, 'createQueue' | 'send' | 'fetch' | 'touch' | 'complete' | 'fail'>;

interface Seats {
  db: Database;
  boss: HeadBoss;
  account: string;
}

/** Makes sure that somebody becomes the head. Nothing happens where there is one, or the job waits. */
export async function offerHead({ db, boss, account }: Seats): Promise<void> {
  const queue = headQueue(account);
  await db.persist(() => boss.createQueue(queue, headQueueOptions));
  await db.persist(() => boss.send(queue, { account }));
}

/** A transaction, as pg-boss wants it. */
function ofBoss(tx: Sql) {
  return {
    executeSql: async (text: string, values?: unknown[]) => ({ rows: await tx.query(text, values) }),
  };
}

/** Whether the job was still that attempt's; the declared type of the answer is empty. */
function isDone(answer: object): boolean {
  return 'affected' in answer && answer.affected === 1;
}

interface SeatOptions extends Seats {
  /** The worker's id. */
  worker: string;
}

/** Takes the account's seat if it is free; undefined while another worker has it, or nobody needs a head. */
export async function takeSeat(options: SeatOptions): Promise<Seat | undefined> {
  const { db, boss, account } = options;
  const [job] = await db.persist(() => boss.fetch(headQueue(account)));
  if (job === undefined) return undefined;
  const { id, retryCount } = job;
  return openSeat({ ...options, job: { id, retryCount } });
}

type Job = { id: string; retryCount: number };

interface Raised {
  epoch: string;
  /** The head before, unless it left with nothing on its way to the service. */
  last: string | null;
  /** The longest of the open runs. */
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
        `WITH last AS (SELECT head FROM mediabatch.account WHERE id = $1 FOR UPDATE)
         UPDATE mediabatch.account SET epoch = epoch + 1, head = $2, beat = now(), error = NULL FROM last
         WHERE id = $1 RETURNING epoch::text AS epoch, last.head AS last, (
           SELECT coalesce(max((settings->>'createTimeoutMs')::float8), 0) FROM mediabatch.run
           WHERE account = $1 AND state = 'open') AS "createTimeoutMs"`,
        [account, worker],
      );
      return row;
    });
    return raised !== undefined;
  });
  if (raised === undefined) return undefined;
  const waitMs = raised.last === null ? 0 : leaseMs + raised.createTimeoutMs;
  return new Seat({ ...options, lease, epoch: Number(raised.epoch), waitMs });
}

/**
 * The seat of an account's head, while this process has it. Whoever leaves it after everything of theirs has come back from
 * the service says so, by taking their name off it; the next head then has nothing to wait for.
 */
export class Seat {
  readonly epoch: number;
  readonly lease: Lease;
  readonly #options: SeatOptions & { job: Job };
  readonly #waitMs: number;
  readonly #takenAt = performance.now();

  constructor(options: SeatOptions & { job: Job; lease: Lease; epoch: number; waitMs: number }) {
    this.epoch = options.epoch;
    this.lease = options.lease;
    this.#options = options;
    this.#waitMs = options.waitMs;
  }

  /**
   * How long creates of earlier heads must still not be looked up or sent again, in ms. By then a head that was frozen with
   * a create in its hands has lost its lease, and the service has closed a connection on which nothing came, or has
   * answered.
   */
  waitMs(): number {
    return Math.max(0, this.#waitMs - (performance.now() - this.#takenAt));
  }

  /** One heartbeat. Resolves with whether this process is still the head. */
  async beat(): Promise<boolean> {
    const { db, boss, account, job } = this.#options;
    const touched = await db.persist(() => boss.touch(headQueue(account), job));
    if (!isDone(touched)) return false;
    const held = await db.query<{ id: string }>(
      'UPDATE mediabatch.account SET beat = now() WHERE id = $1 AND epoch = $2 RETURNING id',
      [account, this.epoch],
    );
    return held.length === 1;
  }

  /**
   * Leaves if no run is open. Whoever submits one locks the account as well, so a run is seen here, or finds the job gone
   * and sends another. `lost`: another head has the account.
   */
  async leaveIfIdle(): Promise<'left' | 'runs are open' | 'lost'> {
    const { db, boss, account, job } = this.#options;
    const isClean = this.waitMs() === 0;
    return db.transaction(async (tx) => {
      if (!(await this.#lock(tx))) return 'lost';
      const open = await tx.query<{ id: string }>(
        `SELECT id FROM mediabatch.run WHERE account = $1 AND state = 'open' LIMIT 1`,
        [account],
      );
      if (open.length > 0) return 'runs are open';
      if (isClean) await this.#takeNameOff(tx);
      await boss.complete(headQueue(account), job, null, { db: ofBoss(tx) });
      return 'left';
    });
  }

  /** Gives the job back at once. `isClean`: nothing of this head is on its way to the service. */
  async handBack({ isClean }: { isClean: boolean }): Promise<void> {
    const { db, boss, account, job } = this.#options;
    const isAllClean = isClean && this.waitMs() === 0;
    await db.transaction(async (tx) => {
      if (!(await this.#lock(tx))) return;
      if (isAllClean) await this.#takeNameOff(tx);
      await boss.fail(headQueue(account), job, { message: 'handed over' }, { db: ofBoss(tx) });
      await tx.query('SELECT pg_notify($1, $2)', [workChannel, account]);
    });
  }

  async #lock(tx: Sql): Promise<boolean> {
    const { account } = this.#options;
    const held = await tx.query<{ id: string }>(
      'SELECT id FROM mediabatch.account WHERE id = $1 AND epoch = $2 FOR UPDATE',
      [account, this.epoch],
    );
    return held.length === 1;
  }

  async #takeNameOff(tx: Sql): Promise<void> {
    await tx.query('UPDATE mediabatch.account SET head = NULL WHERE id = $1', [this.#options.account]);
  }
}
