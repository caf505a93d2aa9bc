/** The lock as a file that one run holds. */
export interface LockFile {
  readonly path: string;
  /**
   * Adds one line (with its LF). Resolves when it is durable; lines that wait at the same time share one write and one
   * fdatasync, in the order in which they came. After a failure every later call rejects with the same error.
   * Rejects with `LockChangedError` when another program has put a file in place of ours.
   */
  append(line: string): Promise<void>;
  /**
   * Puts these lines (each with its LF) in place of the file. It may still work after a failed `append`, and then saves what
   * that could not. They are asked for as they are written.
   * Rejects with `LockChangedError` when someone else wrote the file: read it again, join it with what is known, open it anew.
   */
  replace(lines: Iterable<string>): Promise<void>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/**
 * Request bodies of creates that are on their way, one file per idempotency key, beside the lock but out of git:
 * a body that holds another step's link (which may be signed, and may differ tomorrow) must be sent again with the very
 * same bytes, and links do not belong into the lock.
 *
 * The folder may have come with a branch of somebody else: only what was written here is read, and nothing is written or
 * removed behind a link (`UnsafeFileError`).
 */
export interface RequestBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
}

/** How long finished jobs took, in ms, the newest last, by kind and model. What is kept between runs. */
export interface KeptDurations {
  [kindAndModel: string]: number[];
}
