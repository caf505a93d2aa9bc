import { setMaxListeners } from 'node:events';
import type { Service } from '../../contract/ports.ts';
import { Condition } from '../../ground/condition.ts';

/** Time, in ms by the clock of the database, after which a leader without heartbeat is replaced. The minimum of pg-boss. */
export const leaseMs = 10_000;
/** Heartbeat interval of a leader, in ms. */
const beatEveryMs = 2000;
/** By how much two clocks may differ over half a lease before one of them has jumped, in ms. */
const toleranceMs = 1000;

/** Two clocks, in ms since whenever: on Linux the monotonic one stands still while the machine sleeps. */
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
 * The right to create for an account, as far as this process can know it without asking: it is fresh while the last
 * heartbeat that the database has confirmed was sent less than half a lease ago. The other half is for what is written
 * then to reach the service before anybody else may have taken over.
 */
export class Lease {
  readonly #clocks: LeaseClocks;
  readonly #lost = new AbortController();
  #confirmed: Moment | undefined;
  /** Called when it became fresh, or was lost. */
  readonly #news = new Condition();

  constructor(clocks: LeaseClocks = systemClocks) {
    this.#clocks = clocks;
    // Everything of a head listens.
    setMaxListeners(0, this.#lost.signal);
  }

  /** Aborted when another worker has the account, or may have it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Also false after a jump of either clock, until the next heartbeat. */
  isFresh(): boolean {
    if (this.#confirmed === undefined || this.#lost.signal.aborted) return false;
    const { monotonic, wall } = this.#now();
    const age = monotonic - this.#confirmed.monotonic;
    const hasJumped = Math.abs(wall - this.#confirmed.wall - age) > toleranceMs;
    return age < leaseMs / 2 && !hasJumped;
  }

  /** Resolves with true as soon as it is fresh; with false when it is lost, or the signal aborted. */
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
   * Beats until the signal is aborted or the lease is lost. `beat` resolves with true when the database has confirmed
   * that this process is still the head; its age counts from when it was asked.
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

  /** Asks once. Resolves with whether the lease is still held. */
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
 * The service of a head. A create waits until the lease is fresh, so that a database that is away for minutes does not
 * use up its tries. `lease.isFresh` is to be the `mayCreate` of that service as well: connecting may take longer.
 */
export function guardCreates<Guarded extends Service>(
  service: Guarded,
  { lease, signal, onCreate }: { lease: Lease; signal: AbortSignal; onCreate?: (() => void) | undefined },
): Guarded {
  return {
    ...service,
    async create(call) {
      if (await lease.whenFresh(signal)) {
        onCreate?.();
        return service.create(call);
      }
      return { is: 'not-sent', message: 'this worker may no longer create for the account' };
    },
  };
}
