import type { Json } from '../ground/json.ts';
import type * as line from './record.generated.ts';

/**
 * Fields that a newer version wrote beside those that this one knows: kept, joined in a fixed order and written back,
 * and never understood.
 */
export interface MayHaveUnknown {
  unknownFields?: { readonly [name: string]: Json } | undefined;
}

export type Output = line.Output & MayHaveUnknown;
export type Acceptance = line.Acceptance & MayHaveUnknown;
export type Verdict = line.Verdict & MayHaveUnknown;

export interface Purchase extends Omit<line.Purchase, 'outputs'>, MayHaveUnknown {
  outputs?: Output[];
}

export interface Decisions extends Omit<line.Decisions, 'pin' | 'accepted' | 'verdicts'>, MayHaveUnknown {
  pin?: NonNullable<line.Decisions['pin']> & MayHaveUnknown;
  accepted?: Acceptance[];
  verdicts?: Verdict[];
}

export interface LockLine extends Purchase, Pick<line.LockLine, 'address' | 'kind' | 'closes'> {
  kind: string;
  decisions?: Decisions;
  earlier?: Purchase[];
}

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

/** Version of the file format. From the first release on, every version that a release wrote is read. */
export const lockVersion = 2;

/** The lock as a value. */
export interface Lock {
  version: typeof lockVersion;
  /** Version of the newest program that wrote it; absent where none told it. */
  writtenBy?: string;
  /** Digest of the service's address; absent until a run knew it. */
  service?: string;
  /** Unknown fields of its header. */
  unknownFields?: MayHaveUnknown['unknownFields'];
  steps: Map<string, StepRecord>;
}
