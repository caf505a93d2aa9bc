import type { Clock } from '../../src/contract/clock.ts';

interface Sleeper {
  at: number;
  wake(): void;
}

/** Nothing sleeps and nothing moves: the work will never end. */
export class StandstillError extends Error {}

/**
 * A clock that jumps: while nothing else happens, time moves to the next sleeper. Everything that a test lets run must
 * be in memory, so that "nothing else happens" is when the event loop has turned a few times without news.
 */
export class VirtualClock implements Clock {
  #now = Date.parse('2026-01-01T00:00:00Z');
  #sleepers: Sleeper[] = [];
  #random: () => number;

  constructor(options: { random?: () => number } = {}) {
    this.#random = options.random ?? (() => 0.5);
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#random();
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper: Sleeper = {
        at: this.#now + Math.max(0, ms),
        wake: () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      signal?.addEventListener('abort', sleeper.wake, { once: true });
      this.#sleepers.push(sleeper);
    });
  }

  /** Lets time run until `work` has ended. Fails when nothing sleeps and nothing moves: the work would never end. */
  async run<T>(work: Promise<T>): Promise<T> {
    let ended = false;
    const watched = work.finally(() => {
      ended = true;
    });
    watched.catch(() => {});
    for (let idle = 0; !ended; ) {
      await turns(4);
      if (ended) break;
      const next = this.#sleepers.reduce<Sleeper | undefined>(
        (first, sleeper) => (first === undefined || sleeper.at < first.at ? sleeper : first),
        undefined,
      );
      if (next === undefined) {
        idle += 1;
        if (idle > 100) throw new StandstillError();
        continue;
      }
      idle = 0;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
    return watched;
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
