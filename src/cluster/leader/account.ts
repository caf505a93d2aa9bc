import { setMaxListeners } from 'node:events';
import { LeadershipLostError } from '../../contract/errors.ts';
import type { Service } from '../../contract/ports.ts';
import { Condition } from '../../ground/condition.ts';
import { type Boss, leaderQueue, leaderQueueOptions, ofBoss, workChannel } from '../database/boss.ts';
import type { Database } from '../database/database.ts';
import type { SpentSums } from './account-spending.ts';
import { raisedEpoch } from './rows.ts';

/** Longest leadership in ms. Another worker then leads, because the queue ends each entry, such as a leadership, after a day. */
export const longestSittingMs = 23 * 3_600_000;

export type LeaderBoss = Pick<Boss, 'createQueue' | 'send' | 'fetch' | 'touch' | 'complete' | 'fail'>;

interface LeadershipOptions {
  db: Database;
  boss: LeaderBoss;
  account: string;
  worker: string;
}

/** Queues the leader's job again if it was lost. Does nothing if the account has a leader or the job is queued. */
export async function offerLeadership({ db, boss, account }: Omit<LeadershipOptions, 'worker'>): Promise<void> {
  await db.persist(() => boss.createQueue(leaderQueue(account), leaderQueueOptions));
  await db.persist(() => boss.send(leaderQueue(account), { account }));
}

/** Returns true if the queue job was still assigned to this leader. The types of pg-boss lack the field `affected`. */
function isDone(answer: object): boolean {
  return 'affected' in answer && answer.affected === 1;
}

type Job = { id: string; retryCount: number };

interface Raised {
  epoch: string;
  /** Time in ms in which create requests of earlier leaders may still reach the service. 0 if none was in flight. */
  waitMs: number;
  /** Longest create timeout of the open runs and of earlier leaders, in ms. */
  createTimeoutMs: number;
}

/**
 * Acquires the leadership of an account. Increments the epoch, so that the database rejects an earlier leader. Returns
 * undefined if another worker leads or the account needs no leader.
 */
export async function takeLeadership(options: LeadershipOptions): Promise<Leadership | undefined> {
  const { db, boss, account, worker } = options;
  // Ignores the start times of queue jobs: after the server's clock was set back, a job would wait for its start time.
  const [fetched] = await db.persist(() => boss.fetch(leaderQueue(account), { ignoreStartAfter: true }));
  if (fetched === undefined) return undefined;
  const job = { id: fetched.id, retryCount: fetched.retryCount };
  const lease = new Lease();
  let raised = undefined as Raised | undefined;
  await lease.confirm(async () => {
    raised = await db.transaction(async (tx) => {
      // Another worker may have taken the leader's job while this worker waited for the server.
      const touched = await boss.touch(leaderQueue(account), job, { db: ofBoss(tx) });
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
  return new Leadership({ ...options, job }, raised, lease);
}

export class Leadership {
  readonly epoch: number;
  readonly lease: Lease;
  readonly #options: LeadershipOptions & { job: Job };
  readonly #waitUntil: number;
  #createTimeoutMs: number;
  #spent: () => SpentSums | undefined = () => undefined;

  constructor(options: LeadershipOptions & { job: Job }, { epoch, waitMs, createTimeoutMs }: Raised, lease: Lease) {
    this.epoch = Number(epoch);
    this.lease = lease;
    this.#options = options;
    this.#waitUntil = performance.now() + waitMs;
    this.#createTimeoutMs = createTimeoutMs;
  }

  /** Returns the time in ms before the leader may resolve or resend create requests of earlier leaders. */
  waitMs(): number {
    return Math.max(0, this.#waitUntil - performance.now());
  }

  async allowCreates(timeoutMs: number): Promise<void> {
    if (timeoutMs <= this.#createTimeoutMs) return;
    const { db, account } = this.#options;
    const held = await db.query<{ id: string }>(
      `UPDATE mediabatch.account SET create_timeout_ms = greatest(create_timeout_ms, $3)
       WHERE id = $1 AND epoch = $2 RETURNING id`,
      [account, this.epoch, timeoutMs],
    );
    if (held.length === 0) throw new LeadershipLostError();
    this.#createTimeoutMs = timeoutMs;
  }

  reportSpent(spent: () => SpentSums | undefined): void {
    this.#spent = spent;
  }

  async beat(): Promise<boolean> {
    const { db, boss, account, job } = this.#options;
    const touched = await db.persist(() => boss.touch(leaderQueue(account), job));
    if (!isDone(touched)) return false;
    const held = await db.query<{ id: string }>(
      'UPDATE mediabatch.account SET beat = now(), spent = coalesce($3, spent) WHERE id = $1 AND epoch = $2 RETURNING id',
      [account, this.epoch, this.#spentJson()],
    );
    return held.length === 1;
  }

  /**
   * Ends the leadership of the account and offers the account to other workers. `error`: why the leader failed. If
   * omitted, no request is in flight, so the next leader need not wait.
   */
  async leave(error?: string): Promise<'no run is open' | 'handed over' | 'taken over'> {
    const { db, boss, account, job } = this.#options;
    const waitMs = this.waitMs();
    const how = await db.transaction(async (tx) => {
      // `submit` locks the same row: either this query finds the new run, or `submit` finds the leader's job completed.
      const lock = 'SELECT FROM mediabatch.account WHERE id = $1 AND epoch = $2 FOR UPDATE';
      if ((await tx.query(lock, [account, this.epoch])).length === 0) return 'taken over';
      await tx.query(
        `UPDATE mediabatch.account SET error = $2, head = CASE WHEN $3 AND $5::float8 = 0 THEN NULL ELSE head END, spent = coalesce($4, spent),
           create_timeout_ms = CASE WHEN $3 THEN greatest(0, $5::float8 - ${leaseMs}) ELSE create_timeout_ms END
         WHERE id = $1`,
        [account, error ?? null, error === undefined, this.#spentJson(), waitMs],
      );
      const queue = leaderQueue(account);
      const open = `SELECT FROM mediabatch.run WHERE account = $1 AND state = 'open' LIMIT 1`;
      if ((await tx.query(open, [account])).length === 0) {
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
}

/** Time without a heartbeat, in ms, after which a leader is replaced. pg-boss allows no shorter time. */
export const leaseMs = 10_000;
const beatEveryMs = 2000;
/** If the two clocks of `LeaseClocks` drift apart by more than this many ms during half a lease, one of them jumped. */
const toleranceMs = 1000;

/** The process's two clocks in ms, with arbitrary origins. Linux stops the monotonic clock while the machine sleeps. */
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
 * Permits the leader to send create requests for half a lease after each confirmed heartbeat. During the second half,
 * requests in flight reach the service before another worker can lead.
 */
export class Lease {
  readonly #clocks: LeaseClocks;
  readonly #lost = new AbortController();
  #confirmed: Moment | undefined;
  readonly #changes = new Condition();

  constructor(clocks: LeaseClocks = systemClocks) {
    this.#clocks = clocks;
    // Disables Node's warning about many listeners: each part of a leader adds a listener.
    setMaxListeners(0, this.#lost.signal);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Returns true if create requests may be sent. After a clock jumped, returns false until the next heartbeat. */
  isFresh(): boolean {
    if (this.#confirmed === undefined || this.#lost.signal.aborted) return false;
    const { monotonic, wall } = this.#now();
    const age = monotonic - this.#confirmed.monotonic;
    const hasJumped = Math.abs(wall - this.#confirmed.wall - age) > toleranceMs;
    return age < leaseMs / 2 && !hasJumped;
  }

  async whenFresh(signal: AbortSignal): Promise<boolean> {
    while (!this.isFresh()) {
      if (signal.aborted || this.#lost.signal.aborted) return false;
      signal.addEventListener('abort', this.#wake, { once: true });
      await this.#changes.changed();
      signal.removeEventListener('abort', this.#wake);
    }
    return true;
  }

  /** Sends heartbeats until `signal` is aborted or the lease is lost. `beat` resolves with false after a takeover. */
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

  /**
   * Sends one heartbeat. If the database confirms the heartbeat, the lease begins at the time of the call, not of the
   * reply. Without this confirmation, the lease is lost.
   */
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

  readonly #wake = (): void => this.#changes.notify();

  #now(): Moment {
    return { monotonic: this.#clocks.monotonic(), wall: this.#clocks.wall() };
  }
}

/** Makes create requests wait for a fresh lease. The service must check `lease.isFresh` again after connecting. */
export function guardCreates<Guarded extends Service>(
  service: Guarded,
  { lease, signal }: { lease: Lease; signal: AbortSignal },
): Guarded {
  return {
    ...service,
    async create(call) {
      if (await lease.whenFresh(signal)) return service.create(call);
      return { is: 'not-sent', message: 'this worker may no longer send create requests for the account' };
    },
  };
}
