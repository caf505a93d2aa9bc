/** A run that ended by a mistake of ours or of a library. `cause`: what it was. */
export class BrokenRunError extends Error {
  /** Path of the lock that has what was paid. */
  readonly lock: string;

  constructor(cause: unknown, lock: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'BrokenRunError';
    this.lock = lock;
  }
}

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

/** Resolves with `work`, or when `ms` have passed. Never rejects. */
export function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
