import { setMaxListeners } from 'node:events';
import { HeadLostError } from '../../contract/errors.ts';
import type { Service } from '../../contract/ports.ts';
import { Condition } from '../../ground/condition.ts';
import { type Boss, headQueue, headQueueOptions, ofBoss, workChannel } from '../database/boss.ts';
import type { Database, Sql } from '../database/database.ts';
import type { SpentSums } from './account-spending.ts';
import { raisedEpoch } from './rows.ts';

/** Time in ms after which a leader hands over to the first candidate; a job of the queue may take a day at most. */
export const longestSittingMs = 23 * 3_600_000;

export type HeadBoss = Pick<Boss, 'createQueue' | 'send' | 'fetch' | 'touch' | 'complete' | 'fail'>;

interface Seats {
  db: Database;
  boss: HeadBoss;
  account: string;
}

/** Queues the head's job again if it was lost. Does nothing if a head is working or its job is queued. */
export async function offerHead({ db, boss, account }: Seats): Promise<void> {
  await db.persist(() => boss.createQueue(headQueue(account), headQueueOptions));
  await db.persist(() => boss.send(headQueue(account), { account }));
}

/** Whether the job was still assigned to this attempt. The queue's declared return type lacks the field. */
function isDone(answer: object): boolean {
  return 'affected' in answer && answer.affected === 1;
}

interface SeatOptions extends Seats {
  worker: string;
}

/**
 * Takes leadership of the account if it is free. Returns undefined if another worker leads, or if no head is needed.
 */
export async function takeSeat(options: SeatOptions): Promise<Seat | undefined> {
  const { db, boss, account } = options;
  // Jobs of heads have no start time. Without this option, a job would wait after the server's clock was set back.
  const [job] = await db.persist(() => boss.fetch(headQueue(account), { ignoreStartAfter: true }));
  if (job === undefined) return undefined;
  const { id, retryCount } = job;
  return openSeat({ ...options, job: { id, retryCount } });
}

type Job = { id: string; retryCount: number };

interface Raised {
  epoch: string;
  /** Time in ms that create requests of earlier leaders may still take; 0 if the last one left with none in flight. */
  waitMs: number;
  /** Longest create timeout of the open runs and of earlier leaders, in ms. */
  createTimeoutMs: number;
}

/**
 * Raises the epoch, so that all later statements of an earlier head are rejected. The same transaction sends the job's
 * heartbeat, because this call may have waited for the server until another worker got the job.
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
 * The leadership of an account while this process has it. A leader that leaves without requests in flight removes its
 * name from the account, so that the next leader does not have to wait.
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
   * Returns the time in ms in which create requests of earlier heads must not yet be looked up or repeated. After it,
   * a head that froze during a create request has lost its lease, and the service has answered, or has closed the
   * idle connection.
   */
  waitMs(): number {
    return Math.max(0, this.#waitMs - (performance.now() - this.#takenAt));
  }

  /**
   * Stores a longer create timeout, in ms. Call it before create requests may take that long: the next leader waits for
   * it.
   */
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

  /** Sets the function whose sums each heartbeat and the end of leadership store in the account. */
  tellSpent(spent: () => SpentSums | undefined): void {
    this.#spent = spent;
  }

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
   * Ends the leadership. The job is completed if no run is open, and otherwise free for the next leader at once.
   * Because a submit locks the account as well, either its run is seen here, or it finds the job completed and sends
   * another one. `isClean`: no request of this head is in flight, so the next leader only waits for the rest of this
   * one's wait. `error`: reason for leaving, shown until a head leaves without one.
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

/**
 * Time in ms, by the clock of the database, after which a leader without heartbeat is replaced. The minimum of pg-boss.
 */
export const leaseMs = 10_000;
const beatEveryMs = 2000;
/** Maximum difference of the two clocks over half a lease, in ms; a larger one means that a clock has jumped. */
const toleranceMs = 1000;

/** Two clocks in ms, with arbitrary origins. Both are needed, because on Linux the monotonic one stops during sleep. */
interface LeaseClocks {
  monotonic(): number;
  wall(): number;
}

const systemClocks: LeaseClocks = { monotonic: () => performance.now(), wall: () => Date.now() };

interface Moment {
  monotonic: number;
  wall: number;
}

/**
 * Permission to send create requests for an account, as far as a process can know without asking. It is fresh while the
 * last confirmed heartbeat was sent less than half a lease ago. The other half is the time for a request to reach the
 * service before another worker may have taken over.
 */
export class Lease {
  readonly #clocks: LeaseClocks;
  readonly #lost = new AbortController();
  #confirmed: Moment | undefined;
  readonly #news = new Condition();

  constructor(clocks: LeaseClocks = systemClocks) {
    this.#clocks = clocks;
    // Each part of a head adds a listener.
    setMaxListeners(0, this.#lost.signal);
  }

  /** Aborted when another worker has the account, or may have it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Returns false also after a jump of either clock, until the next heartbeat. */
  isFresh(): boolean {
    if (this.#confirmed === undefined || this.#lost.signal.aborted) return false;
    const { monotonic, wall } = this.#now();
    const age = monotonic - this.#confirmed.monotonic;
    const hasJumped = Math.abs(wall - this.#confirmed.wall - age) > toleranceMs;
    return age < leaseMs / 2 && !hasJumped;
  }

  /** Resolves with false when the lease is lost or the signal aborts first. */
  async whenFresh(signal: AbortSignal): Promise<boolean> {
    while (!this.isFresh()) {
      if (signal.aborted || this.#lost.signal.aborted) return false;
      signal.addEventListener('abort', this.#wake, { once: true });
      await this.#news.changed();
      signal.removeEventListener('abort', this.#wake);
    }
    return true;
  }

  /**
   * Sends heartbeats until the signal aborts or the lease is lost. `beat` resolves with true when the database confirms
   * that this process is still the head. The lease's age counts from the call of `beat`.
   */
  async keep(
    beat: () => Promise<boolean>,
    { signal, sleep }: { signal: AbortSignal; sleep(ms: number, signal: AbortSignal): Promise<void> },
  ): Promise<void> {
    const end = AbortSignal.any([signal, this.#lost.signal]);
    while (!end.aborted) {
      await this.confirm(beat);
      await sleep(beatEveryMs, end);
    }
  }

  /** Sends one heartbeat. The lease is lost if it is not confirmed. */
  async confirm(beat: () => Promise<boolean>): Promise<boolean> {
    const asked = this.#now();
    let isHeld = false;
    try {
      isHeld = await beat();
    } finally {
      if (isHeld) this.#confirmed = asked;
      else this.#lost.abort();
      this.#wake();
    }
    return isHeld;
  }

  lose(): void {
    this.#lost.abort();
    this.#wake();
  }

  readonly #wake = (): void => this.#news.notify();

  #now(): Moment {
    return { monotonic: this.#clocks.monotonic(), wall: this.#clocks.wall() };
  }
}

/**
 * Wraps the service of a head: a create request waits until the lease is fresh, so that an outage of the database does
 * not use up its attempts. Pass `lease.isFresh` to the service as `mayCreate` as well, because connecting may take
 * long.
 */
export function guardCreates<Guarded extends Service>(
  service: Guarded,
  { lease, signal }: { lease: Lease; signal: AbortSignal },
): Guarded {
  return {
    ...service,
    async create(call) {
      if (await lease.whenFresh(signal)) return service.create(call);
      return { is: 'not-sent', message: 'this worker may no longer create for the account' };
    },
  };
}
