/** The lock as a file that one run holds. */
export interface LockFile {
  readonly path: string;
  /**
   * Adds one line (with its LF). Resolves when it is durable; waiting lines share one write and one fdatasync, in order
   * of arrival. After a failure every later call rejects with the same error. Rejects with `LockChangedError` when
   * another program has put a file in place of ours.
   */
  append(line: string): Promise<void>;
  /**
   * Replaces the file with these lines (each with its LF), which are consumed as they are written. May still succeed
   * after a failed `append`, and then saves what that could not. Rejects with `LockChangedError` when someone else
   * wrote the file: read it again, join it with what is known, reopen it.
   */
  replace(lines: Iterable<string>): Promise<void>;
  /** Waits for pending writes. */
  close(): Promise<void>;
}

/**
 * Request bodies of creates in flight, one file per idempotency key, beside the lock but out of git: a body that holds
 * another step's link (which may be signed, and may differ tomorrow) must be resent byte for byte, and links do not
 * belong in the lock.
 *
 * The folder may have come with someone else's branch: only what was written here is read, and nothing is written or
 * removed through a link (`UnsafeFileError`).
 */
export interface RequestBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
  /** Notes that its create was answered: from now on the body is only of use while the service knows its key. */
  answered(key: string): Promise<void>;
}

/** Durations of finished jobs in ms, newest last, by kind and model; kept between runs. */
export interface KeptDurations {
  [kindAndModel: string]: number[];
}
