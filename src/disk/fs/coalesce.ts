import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Coalesces calls: an act that many request in one turn of the event loop, or while it runs, runs once for all of them.
 * It always begins after it was requested.
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
