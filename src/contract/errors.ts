/** Failure of a free request. `unreachable`: no usable answer. `unusable`: status 2xx, but an invalid body. */
export class ServiceError extends Error {
  readonly why: 'auth' | 'unreachable' | 'refused' | 'unusable';
  readonly status: number | undefined;
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
  /** `bad-bytes`: invalid download, a retry may succeed. `disk`: cannot write. `path`: output path is not allowed. */
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
    super(`${path} was changed by another program while this run held it. Run again to use the new content`);
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

/** Another run took the lock, or the guard file was removed. Two runs could now pay for the same step. */
export class GuardLostError extends Error {
  constructor() {
    super('this run no longer holds the lock (its guard in .mediabatch is gone or belongs to another run)');
    this.name = 'GuardLostError';
  }
}

export class LeadershipLostError extends Error {
  constructor() {
    super('another worker now leads this account');
    this.name = 'HeadLostError';
  }
}

/** A run failed because of a bug in mediabatch or a library. `cause`: the original error. */
export class BrokenRunError extends Error {
  readonly lock: string;

  constructor(cause: unknown, lock: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'BrokenRunError';
    this.lock = lock;
  }
}
