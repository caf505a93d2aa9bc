import { setMaxListeners } from 'node:events';
import type { Service } from '../../contract/ports.ts';
import { Condition } from '../../ground/condition.ts';

/**
 * Time in ms, by the clock of the database, after which a leader without heartbeat is replaced. The minimum of pg-boss.
 */
export const leaseMs = 10_000;
const beatEveryMs = 2000;
/** Maximum difference of the two clocks over half a lease, in ms; a larger one means that a clock has jumped. */
const toleranceMs = 1000;

/** Two clocks in ms, with arbitrary origins. Both are needed, because on Linux the monotonic one stops during sleep. */
export interface LeaseClocks {
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
