/**
 * Failure of a call that buys nothing. `auth`: the key is missing or refused. `unreachable`: no usable answer.
 * `refused`: the service declined. `unusable`: it accepted, but its answer makes no sense.
 */
export class ServiceError extends Error {
  readonly why: 'auth' | 'unreachable' | 'refused' | 'unusable';
  /** HTTP status; absent when there was no answer. */
  readonly status: number | undefined;
  /** Delay that the service asks for before the next call. */
  readonly retryAfterMs: number | undefined;

  constructor(why: ServiceError['why'], message: string, options: { status?: number; retryAfterMs?: number } = {}) {
    super(message);
    this.name = 'ServiceError';
    this.why = why;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Error in turning bytes into a file. */
export class OutputError extends Error {
  /** `bad-bytes`: the download is not what it should be, retry. `disk`: cannot write here. `path`: path refused. */
  readonly why: 'bad-bytes' | 'disk' | 'path';
  constructor(why: 'bad-bytes' | 'disk' | 'path', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutputError';
    this.why = why;
  }
}

/** The file is not what this run last read or wrote: git, an editor or another program changed it. */
export class LockChangedError extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} was changed by another program while this run held it. Run again to take up the new content`);
    this.name = 'LockChangedError';
    this.path = path;
  }
}

/** One of our files is a symbolic link, a folder or a device: it is neither read nor written. */
export class UnsafeFileError extends Error {
  readonly path: string;
  constructor(path: string, what: string) {
    super(`${path} is ${what}, not a plain file; it was not touched. Remove it, or name another file`);
    this.name = 'UnsafeFileError';
    this.path = path;
  }
}

/** Another run has taken the lock over, or someone removed the guard: two runs would pay twice. */
export class GuardLostError extends Error {
  constructor() {
    super('this run no longer holds the lock (its guard in .mediabatch is gone or belongs to another run)');
    this.name = 'GuardLostError';
  }
}

/** Another worker has become head of the account: this one must not write, or send, anything any more. */
export class HeadLostError extends Error {
  constructor() {
    super('another worker now leads this account');
    this.name = 'HeadLostError';
  }
}

/** A run that failed through a defect, ours or a library's. `cause`: the original error. */
export class BrokenRunError extends Error {
  /** Path of the lock that records what was paid. */
  readonly lock: string;

  constructor(cause: unknown, lock: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'BrokenRunError';
    this.lock = lock;
  }
}
