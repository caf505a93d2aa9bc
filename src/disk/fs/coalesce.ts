import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Coalesces calls: if a function is requested several times in one turn of the event loop, or while it runs, it runs
 * once for all of these requests. It always begins after it was requested.
 */
export function coalesce<Result>(act: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  const run = async () => {
    await current;
    await endOfTurn();
    next = undefined;
    const started = act();
    current = started.catch(() => undefined);
    return started;
  };
  return () => {
    next ??= run();
    return next;
  };
}
