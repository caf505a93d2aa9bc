/**
 * An act that many ask for at once, done once for all who asked before it began. Whoever asks while it is going on gets the
 * next one: what was asked for is always done after it was asked for.
 */
export function coalesce<Result>(act: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    next ??= current.then(() => {
      next = undefined;
      const started = act();
      current = started.catch(() => undefined);
      return started;
    });
    return next;
  };
}
