/**
 * Failure of a call that buys nothing. `auth`: the credential is missing or refused. `unreachable`: no usable answer.
 * `refused`: the service declined. `unusable`: the service accepted, but its answer is not valid.
 */
export class ServiceError extends Error {
  readonly why: 'auth' | 'unreachable' | 'refused' | 'unusable';
  readonly status: number | undefined;
  /** Wait in ms that the service requests before the next call. */
  readonly retryAfterMs: number | undefined;

  constructor(why: ServiceError['why'], message: string, options: { status?: number; retryAfterMs?: number } = {}) {
    super(message);
    this.name = 'ServiceError';
    this.why = why;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export class OutputError extends Error {
  /**
   * `bad-bytes`: the downloaded bytes are not valid; retry. `disk`: the file cannot be written. `path`: the path was
   * refused.
   */
  readonly why: 'bad-bytes' | 'disk' | 'path';
  constructor(why: 'bad-bytes' | 'disk' | 'path', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutputError';
    this.why = why;
  }
}

export class LockChangedError extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} was changed by another program while this run held it. Run again to take up the new content`);
    this.name = 'LockChangedError';
    this.path = path;
  }
}

export class UnsafeFileError extends Error {
  readonly path: string;
  readonly what: string;
  constructor(path: string, what: string) {
    super(`${path} is ${what}, not a plain file; it was not touched. Remove it, or name another file`);
    this.name = 'UnsafeFileError';
    this.path = path;
    this.what = what;
  }
}

/** Two runs would now pay twice: another run has taken over the lock, or its guard file was removed. */
export class GuardLostError extends Error {
  constructor() {
    super('this run no longer holds the lock (its guard in .mediabatch is gone or belongs to another run)');
    this.name = 'GuardLostError';
  }
}

/** Another worker leads the account: this worker may no longer write or send anything. */
export class HeadLostError extends Error {
  constructor() {
    super('another worker now leads this account');
    this.name = 'HeadLostError';
  }
}

/** A run that failed because of a defect of this program or a library. `cause`: the original error. */
export class BrokenRunError extends Error {
  readonly lock: string;

  constructor(cause: unknown, lock: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'BrokenRunError';
    this.lock = lock;
  }
}
