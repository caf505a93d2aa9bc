import type { Clock } from './clock.ts';

/**
 * The same clock, except that it never goes back: when the machine's is set back, whatever waits for a time would wait
 * for it twice. Ahead of the machine's by what that was set back since.
 */
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
