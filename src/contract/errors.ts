/** Failure of a free call. `unreachable`: no usable answer. `unusable`: an invalid answer with a status of success. */
export class ServiceError extends Error {
  readonly why: 'auth' | 'unreachable' | 'refused' | 'unusable';
  readonly status: number | undefined;
  /** Wait in ms before the next call, as the service requests. */
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
  /** `bad-bytes`: invalid download, which may be retried. `disk`: cannot write. `path`: the path is not allowed. */
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

/** Another run has the lock, or the guard file was removed, so two runs would pay twice. */
export class GuardLostError extends Error {
  constructor() {
    super('this run no longer holds the lock (its guard in .mediabatch is gone or belongs to another run)');
    this.name = 'GuardLostError';
  }
}

export class HeadLostError extends Error {
  constructor() {
    super('another worker now leads this account');
    this.name = 'HeadLostError';
  }
}

/** Failure of a run by a defect of this program or a library. `cause`: the original error. */
export class BrokenRunError extends Error {
  readonly lock: string;

  constructor(cause: unknown, lock: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'BrokenRunError';
    this.lock = lock;
  }
}
