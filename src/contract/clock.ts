export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Monotonic time in ms since an arbitrary start. Defaults to `now`. */
  elapsed?(): number;
  /** Resolves after `ms`, or as soon as `signal` is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  random(): number;
}

/** Longest delay that `setTimeout` supports, in ms. With a longer delay, `setTimeout` calls back at once. */
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

/** Returns a clock that never goes back, even if the system clock is set back. */
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
