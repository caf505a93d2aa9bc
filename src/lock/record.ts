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
 * An open send has no job id: `intent` (its key is replayed, so its answer can be asked for again) and `unresolved` (it is
 * not: a list may tell, or only a person). `refused`: the service said no to this key, and nothing was charged.
 * A job has one: `running`, `lost` (the service no longer knows the id), `failed`, `done`.
 */
export type PurchaseState = 'intent' | 'refused' | 'unresolved' | 'running' | 'lost' | 'failed' | 'done';

/**
 * One fact about money at an address: an open send, a refused key, or a job. A redo or a retry is a new `generation`; after
 * a key was refused the next one is tried as a new `attempt`.
 */
export interface Purchase {
  fingerprint: string;
  generation: number;
  attempt: number;
  state: PurchaseState;
  /** Idempotency key: ASCII, at most 128 characters. */
  key: string;
  /**
   * Made at the intent, different for each create that leaves any machine. With an open send only: it is the name under
   * which its own answer, or a person's decision, closes it.
   */
  send?: string;
  /** Digest of `send` and the credential it was sent with: another account is never asked about it. Open sends only. */
  account?: string;
  /** Digest of the bytes that were sent, where they hold links: the same key is not sent with other ones. Open sends only. */
  digest?: string;
  /** A person decided to buy again whatever became of this send: it counts as charged, and nobody asks about it. */
  writtenOff?: true;
  /** A person decided that it counts as never bought. Its id and charge stay. */
  forgotten?: true;
  /** Of an earlier purchase, where it is another kind than the record's. */
  kind?: string;
  /** When the request was first sent, ISO 8601 UTC, by the service's clock as far as it was known. Open sends only. */
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
  /**
   * Sends that people have decided about. They stay closed when a branch comes back that still has them open. Sorted.
   */
  sends?: string[];
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

/**
 * One line of the file: a step's newest purchase, spread into the record, with the others under `earlier`.
 * A line appended during a run has the same form; the fold joins all lines of an address.
 */
export interface LockLine extends Purchase {
  address: string;
  kind: string;
  decisions?: Decisions;
  earlier?: Purchase[];
  closes?: readonly string[];
}
