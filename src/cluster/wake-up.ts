import type { Clock } from '../contract/clock.ts';

/** Returns a sleep that a notification ends early. A notification between two sleeps ends the next sleep at once. */
export function makeWakeUp({ clock, isFor }: { clock: Clock; isFor(payload: string): boolean }) {
  let isDue = false;
  let end = () => {};
  const wake = () => {
    isDue = true;
    end();
  };
  return {
    wake,
    /** If `payload` is `undefined`, notifications may have been missed. */
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

/** Shortens a waiting time by up to a quarter at random, so that many workers do not act at the same time. */
export function spread(clock: Clock, ms: number): number {
  return ms * (0.75 + clock.random() / 4);
}
