/**
 * Why a call that buys nothing came to nothing. `auth`: the key is missing or refused. `unreachable`: no usable answer.
 * `refused`: the service said no. `unusable`: it said yes, in words that make no sense.
 */
export class ServiceError extends Error {
  readonly why: 'auth' | 'unreachable' | 'refused' | 'unusable';
  /** HTTP status; absent when there was no answer. */
  readonly status: number | undefined;
  /** How long the service asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(why: ServiceError['why'], message: string, options: { status?: number; retryAfterMs?: number } = {}) {
    super(message);
    this.name = 'ServiceError';
    this.why = why;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Why bytes could not become a file. */
export class OutputError extends Error {
  /** `bad-bytes`: the download is not what it should be, try again. `disk`: this machine cannot write. `path`: the path is refused. */
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

/** A file of ours is a symbolic link, a folder or a device: it is neither read nor written. */
export class UnsafeFileError extends Error {
  readonly path: string;
  constructor(path: string, what: string) {
    super(`${path} is ${what}, not a plain file; it was not touched. Remove it, or name another file`);
    this.name = 'UnsafeFileError';
    this.path = path;
  }
}

/** Another run has taken the lock over, or somebody removed the guard: two runs would pay twice. */
export class GuardLostError extends Error {
  constructor() {
    super('this run no longer holds the lock (its guard in .mediabatch is gone or belongs to another run)');
    this.name = 'GuardLostError';
  }
}

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
