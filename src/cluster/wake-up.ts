import type { Clock } from '../contract/clock.ts';

/** A timed wait that a notification cuts short. A notification while nothing waits is kept for the next wait. */
export function makeWakeUp({ clock, isFor }: { clock: Clock; isFor(payload: string): boolean }) {
  let isDue = false;
  let end = () => {};
  const wake = () => {
    isDue = true;
    end();
  };
  return {
    wake,
    /** `undefined`: something may have been missed. */
    onNotification(payload: string | undefined): void {
      if (payload === undefined || isFor(payload)) wake();
    },
    async within(ms: number, signal?: AbortSignal): Promise<void> {
      if (!isDue && signal?.aborted !== true) {
        const woken = new AbortController();
        end = () => woken.abort();
        signal?.addEventListener('abort', end, { once: true });
        await clock.sleep(ms, woken.signal);
        signal?.removeEventListener('abort', end);
      }
      isDue = false;
    },
  };
}
