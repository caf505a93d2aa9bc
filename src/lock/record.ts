import type { Decisions, Purchase } from './record.generated.ts';

export type { Acceptance, Decisions, LockLine, Output, Purchase } from './record.generated.ts';

export type PurchaseState = Purchase['state'];

/** Everything that was ever bought for one address. */
export interface StepRecord {
  address: string;
  kind: string;
  /** Sorted: the newest first, so `purchases[0]` is the face of the record. Empty when all of its sends came to nothing. */
  purchases: Purchase[];
  decisions?: Decisions;
  /**
   * Sends that were answered, or never left. As long as this is remembered, a line that still has one of them open is out
   * of date. Not kept once the lock is settled: what is settled leaves no trace.
   */
  closes?: readonly string[];
}

/** Version of the file's format; older ones are read, and written anew as this one. */
export const lockVersion = 2;

/** The lock as a value. */
export interface Lock {
  version: typeof lockVersion;
  /** Digest of the service's address; absent until a run knew it. */
  service?: string;
  steps: Map<string, StepRecord>;
}
