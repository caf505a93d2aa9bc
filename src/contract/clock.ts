export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Monotonic time in ms from any origin. Defaults to `now`. */
  elapsed?(): number;
  /** Resolves after `ms`, or at once when the signal is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Number in [0, 1), for jitter only. */
  random(): number;
}

/** Node converts a longer delay to 1 ms. */
const longestSleepMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: () => Math.random(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(Math.max(0, ms), longestSleepMs));
      signal?.addEventListener('abort', wake, { once: true });
    });
  },
};

export function elapsedOf(clock: Clock): number {
  return clock.elapsed?.() ?? clock.now();
}

/** Wraps a clock so that it never goes back. After the system clock was set back, the wrapped clock stays ahead. */
export function steadyClock(clock: Clock): Clock {
  let last = Number.NEGATIVE_INFINITY;
  let aheadMs = 0;
  return {
    now() {
      const now = clock.now();
      if (now < last) aheadMs += last - now;
      last = now;
      return now + aheadMs;
    },
    random: () => clock.random(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}
