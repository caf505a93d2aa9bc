import type { OpenRequest } from '../graph/graph.ts';

/** A file that a paid job gave, as it was verified on disk. */
export interface Output {
  /** Relative to the manifest's folder, `/` separators, with extension. */
  path: string;
  sha256: string;
  bytes: number;
  /** Media type by the bytes themselves, for example `image/png`. */
  type: string;
  /** Somebody changed the file, and it was accepted like that: the service does not have these bytes. */
  edited?: true;
}

/**
 * How far one purchase has got.
 * Without a job id: `intent` (about to be sent, or sent and its answer lost), `unresolved` (only a person can decide),
 * `refused` (the service said no: nothing was charged).
 * With one: `running`, `lost` (the service no longer knows the id), `failed`, `done`.
 */
export type PurchaseState = 'intent' | 'refused' | 'unresolved' | 'running' | 'lost' | 'failed' | 'done';

/**
 * One act of buying: a step's request, sent under one idempotency key. A redo or a retry is a new `generation`; a create
 * that was definitely refused is repeated as a new `attempt`.
 */
export interface Purchase {
  fingerprint: string;
  generation: number;
  attempt: number;
  state: PurchaseState;
  /** Idempotency key: ASCII, at most 128 characters. */
  key: string;
  /** When the request was first sent, ISO 8601 UTC. Only kept while no answer is known: the replay window counts from it. */
  since?: string;
  /**
   * The newest job of the kind's list before the request was sent; empty: there was none. With it a lost answer can be
   * looked up in the list. Only kept while no answer is known.
   */
  fence?: string;
  /** The list showed that the first request had made nothing, so it was sent once more. Only kept while no answer is known. */
  resent?: true;
  jobId?: string;
  /** What the service said it deducted, or what was reserved where it did not say; absent while unknown. */
  credits?: number;
  /** What the service said when it refused or failed, made safe for a terminal and cut to 500 characters. */
  error?: string;
  outputs?: Output[];
  /** Id of the record that the job stands in, where that is another one than the job's (thumbnails are removed by it). */
  recordId?: string;
  /** The public URL of an uploaded file, which no call gives back. */
  url?: string;
  /** How often `outputs` has changed after it was first recorded; the higher one wins a join. Absent means 0. */
  revision?: number;
  /** The rendered request, references by fingerprint: what `explain` compares. Left out of earlier purchases. */
  request?: OpenRequest;
  /** Which take of the request this is, for requests that are bought several times on purpose. */
  take?: number;
}

/**
 * What people decided about a step. None of it costs credits, and none of it takes a job id off the record. Each part
 * has one value that wins a join: the higher revision, or the larger number. The version of the file stays: whoever does
 * not know these fields leaves them out, and then plans, and shows, what a decision would have spared.
 */
export interface Decisions {
  /** The purchase whose output is kept, whatever the manifest says now. Without a fingerprint: not pinned any more. */
  pin?: { fingerprint?: string; revision: number };
  /** Requests (`wanted`) that the output of another request (`fingerprint`) was declared to satisfy. Sorted by `wanted`. */
  accepted?: Acceptance[];
  /** Purchases up to this generation count as never made; their ids and charges stay. */
  forgotten?: number;
}

/** Both are fingerprints. */
export interface Acceptance {
  wanted: string;
  fingerprint: string;
  revision: number;
}

/** Everything that was ever bought for one address. */
export interface StepRecord {
  address: string;
  kind: string;
  /** Sorted: the newest first, so `purchases[0]` is the face of the record. Never empty. */
  purchases: Purchase[];
  decisions?: Decisions;
}

/** The lock as a value. */
export interface Lock {
  version: 1;
  /** Digest of the service's address; absent until a run knew it. */
  service?: string;
  steps: Map<string, StepRecord>;
}

/**
 * One line of the file: a step's newest purchase, spread into the record, with the others under `earlier`.
 * A line appended during a run has the same form; the fold joins all lines of an address.
 */
export interface LockLine extends Purchase {
  address: string;
  kind: string;
  decisions?: Decisions;
  earlier?: Purchase[];
}
