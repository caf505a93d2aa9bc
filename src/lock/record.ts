import type { Decisions, Purchase } from './record.generated.ts';

export type { Acceptance, Decisions, LockLine, Output, Purchase, Verdict } from './record.generated.ts';

export type PurchaseState = Purchase['state'];

/** Everything that was ever bought for one address. */
export interface StepRecord {
  address: string;
  kind: string;
  /** Newest first, so that `purchases[0]` represents the record. Empty when no send led to anything. */
  purchases: Purchase[];
  decisions?: Decisions;
  /**
   * Sends that were answered, or never left. While one is remembered, a line that still shows it as open is out of
   * date. Dropped once the lock is settled, because settled sends leave no trace.
   */
  closes?: readonly string[];
}

/** Version of the file format; older ones are read, and rewritten as this one. */
export const lockVersion = 2;

/** The lock as a value. */
export interface Lock {
  version: typeof lockVersion;
  /** Digest of the service's address; absent until a run knew it. */
  service?: string;
  steps: Map<string, StepRecord>;
}
