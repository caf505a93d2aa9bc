/**
 * Errors that nobody awaits, such as one that a library throws at an event of a socket. They end the process from below,
 * with a stack; a run has paid for things, so it ends as runs end: what is on the wire is awaited, everything is recorded.
 */
export function listenForStrayErrors(): StrayErrors {
  let onError: (error: unknown) => void = () => {};
  const stray: StrayErrors = {
    first: new Promise<void>((resolve) => {
      onError = (error) => {
        stray.seen ??= { error };
        resolve();
      };
    }),
    stop() {
      // Those after the first one mostly follow from it, and must not talk it down.
      if (stray.seen === undefined) process.off('uncaughtException', onError);
    },
  };
  // A rejection that nobody handles comes here, too.
  process.on('uncaughtException', onError); // I26
  return stray;
}

export interface StrayErrors {
  /** Resolves at the first one. */
  first: Promise<void>;
  seen?: { error: unknown };
  stop(): void;
}

/** For all that is not a run, which has a listener of its own. */
export function endAtStrayErrors(end: (error: unknown) => void): void {
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') === 1) end(error);
  });
}
