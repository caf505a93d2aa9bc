/**
 * Coalesces calls: an act that many request at once runs once for all who asked before it began. A request made while
 * it runs gets the next run, so the act always begins after it was requested.
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
