/*
 * What engine, run, service and disk share: ports, events, failures, exit codes, the clock. Takes and returns nothing: types, and the small functions that belong to them. Independent of: an implementation of a port. A port exists only if it has two implementations, or a test double.
 */

import type { Media } from '../kinds/kind.ts';
import type { Lock, LockLine, Output, Purchase, PurchaseState, StepRecord } from '../lock/record.ts';
import type { Aspect, MediaFacts } from '../plan/outputs/expectation.ts';
import type { AskedSend, StepOrder } from '../plan/plan.ts';
import type {
  CreateAnswer,
  CreatedJob,
  Download,
  DownloadAnswer,
  FetchAnswer,
  JobEnd,
  ListedJob,
  ListWalk,
  LookUpVerdict,
  UploadAnswer,
} from './answer.ts';
import type { Clock } from './clock.ts';
import type { RunFact, StopReason } from './event.ts';
import type { Hold, HoldAnswer } from './spending.ts';

export interface OutputTarget {
  address: string;
  save: string;
  media: Media;
  /** SHA-256 digests of files that may be overwritten. A different file at the path is retained under a new name. */
  replaces: readonly string[];
  /** Skips the checks of format and completeness, because a user accepted the file. */
  asIs?: true;
  notice(message: string): void;
}

export interface Ports {
  ledger: Ledger;
  gate: CreateGate;
  lost: LostCreates;
  service: Service;
  outputs: Outputs;
  clock: Clock;
  emit(fact: RunFact): void;
  /** Returns true if a failed job may be created again in this run. Defaults to true. */
  mayRetry?(order: StepOrder, error: string): boolean;
  /** After an abort, no create request starts and polling stops. Requests in flight are awaited. */
  signal: AbortSignal;
  /** Longest wait in ms that the service may demand of a create request, at least 10 minutes. */
  patienceMs?: number | undefined;
}

export type Begin =
  /**
   * `reserved`: the price, `null` if unknown. `open`: unresolved create of the step. `body`: body of the unresolved
   * create. `held`: why only a user can resolve it. `job`: existing job to poll, so no job is created.
   */
  | {
      do: 'go';
      reserved: number | null;
      open?: AskedSend;
      body?: string | undefined;
      held?: string;
      job?: { jobId: string; credits: number | null };
    }
  | { do: 'stop'; because: StopReason };

export type StepResult =
  | { state: Extract<PurchaseState, 'done'>; outputs: Output[]; jobId: string; url?: string }
  | { state: Extract<PurchaseState, 'failed' | 'lost'>; error: string; jobId: string }
  | { state: Extract<PurchaseState, 'refused'>; error: string; send: string }
  /** The service has a job for the idempotency key, but did not identify the job. A user must decide. */
  | { state: Extract<PurchaseState, 'unresolved'>; error: string; send: string }
  /** The create request was not sent, or the service's list proves that it created no job. */
  | { state: 'unsent'; send: string };

/** Records purchases. A promise resolves when the record is durable. If one rejects, the run spends nothing more. */
export interface Ledger {
  /** Reserves the step's price. Waits while another step probes the price. A second call for a step has no effect. */
  begin(order: StepOrder): Promise<Begin>;
  /** Records a create request before it is sent. Resolves with the ID of the request. */
  intent(order: StepOrder, request: IntendedRequest): Promise<string>;
  /**
   * Records the job before the first poll. `credits`: the charge, `null` if unknown. Resolves with `taken` if another
   * create request already owns the job ID. The create request of `order` then stays unresolved.
   */
  created(order: StepOrder, job: CreatedJob, answered: AnsweredSend): Promise<{ credits: number | null } | 'taken'>;
  finish(order: StepOrder, result: StepResult): Promise<void>;
  release(order: StepOrder): void;
  /** Keeps the reservation, because the step may have been charged. Steps that wait for the step's price continue. */
  doubt(order: StepOrder): void;
  /**
   * Ends a step after an internal error. Keeps the reservation only if the step may have been charged. Returns the
   * step's purchase (an unresolved create, if there is one), or `broken` if the lock cannot be written.
   */
  abandon(order: StepOrder): Purchase | 'broken' | undefined;
  /** Returns the body that was first sent with the idempotency key, if it differs from the step's body. */
  firstBody(order: StepOrder): Promise<string | undefined>;
  jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined>;
}

/** The create request that received an answer. `replays`: the answer is valid for all requests with its key. */
export type AnsweredSend = Pick<IntendedRequest, 'replays' | 'at'> & { id: string };

export interface IntendedRequest {
  body: string;
  replays: boolean;
  /** Time of the create request in ms since 1970, by the service's clock. */
  at: number;
  /** Newest job in the service's list before the request. */
  fence?: string | undefined;
  /** ID of the earlier create request that this one repeats, because the service's list has no job of it. */
  resent?: string | undefined;
}

export type Departure =
  | { is: 'accepted' }
  | { is: 'returning' }
  /** The service answered 429. `afterMs`: time in ms in which no create request may be sent. */
  | { is: 'throttled'; afterMs: number }
  | { is: 'out-of-credits'; error: string }
  | { is: 'undecided' };

export interface CreateGate {
  readonly stopped: StopReason | undefined;
  /**
   * Resolves with `in` when the create request may be sent, and with `stop` if it must not be sent. `isAsked`: the
   * request only recovers a lost answer, so it may be sent even after the run stopped spending.
   */
  enter(order: StepOrder, options: { signal: AbortSignal; isAsked: boolean }): Promise<'in' | 'stop'>;
  /** Must be called once after each `in`, when the answer is recorded. `again`: the run may retry the request. */
  leave(order: StepOrder, departure: Departure): 'again' | 'over';
  /** Stops all create requests. `until`: time in ISO 8601 at which the service allows requests again. */
  stop(because: StopReason, detail: string, until?: string): void;
}

/** Searches the service's list for jobs whose create answer was lost, for kinds without idempotent replay. */
export interface LostCreates {
  /**
   * Returns the newest job in the kind's list, or `undefined` if the kind has no readable list. Throws `ServiceError`
   * if the service is unreachable; the create request must then not be sent.
   */
  fence(kind: string): Promise<string | undefined>;
  /** Searches for the job of a create request. Call it before `leave`. */
  lookUp(order: StepOrder, lost: LostSend): Promise<LookUp>;
}

export interface LostSend {
  id: string;
  sentAt: number;
  fence: string;
  resent: boolean;
}

/** Search result. `stop`: the run was interrupted. `held`: the search is disabled. `unread`: the list is unreadable. */
export type LookUp = LookUpVerdict<ListedJob> | { do: 'stop' } | { do: 'held' } | { do: 'unread'; error: string };

export interface FinishedJob {
  kind: string;
  jobId: string;
  /** Public URL of an uploaded file. An upload cannot be polled. */
  url?: string;
  files: number;
}

export type UploadOrder = { fileName?: string; contentType?: string } & (
  | { path: string; sha256: string; bytes: number }
  | { url: string }
);

export interface WatchOptions {
  signal: AbortSignal;
  /** True if the job was just created, so the service may still answer 404. */
  fresh: boolean;
  onStatus(status: string): void;
  notice(message: string): void;
  /** Maximum wait in ms for this job, if shorter than the wait for all jobs. */
  patienceMs?: number | undefined;
  /** Factor of the polling rate: above 0, less than 1 if no step waits for the job. Defaults to 1. */
  urgency?: () => number;
}

export interface Service {
  /** Returns true if a repeated request with the same idempotency key returns the first answer. */
  replays(kind: string): boolean;
  /**
   * Returns by how many ms the service's clock is ahead; 0 if unknown. With `fresh`, measures it with a free request.
   * `unreachable`: the service does not answer, so no create request may be sent.
   */
  clockAheadMs(options?: { fresh?: boolean }): Promise<number | { unreachable: string }>;
  create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer>;
  watch(job: { kind: string; jobId: string; model?: string }, options: WatchOptions): Promise<JobEnd>;
  /** Returns the ID of the newest job in a kind's list, or '' for an empty list. Throws `ServiceError`. */
  newestJob(kind: string): Promise<string>;
  /** Reads a kind's list from the newest job backwards until each job in `fences` was found. Throws `ServiceError`. */
  walkJobs(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>>;
  upload(order: UploadOrder, signal: AbortSignal): Promise<UploadAnswer>;
}

export interface Downloads {
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
}

export interface Outputs extends Omit<OutputFiles, 'save'> {
  fetch(
    target: OutputTarget,
    file: { jobId: string; index: number; url: string },
    options: { signal: AbortSignal },
  ): Promise<FetchAnswer>;
}

export interface OutputFiles {
  /** Writes a temporary file, verifies it and renames it to the target's path. Throws `OutputError`. */
  save(target: OutputTarget, download: Download): Promise<Output>;
  /**
   * Copies a saved file to the target's path; with `remove`, deletes the old file. Resolves with `undefined` if the
   * file is missing or changed.
   */
  relocate(target: OutputTarget, from: Output, options?: { remove?: boolean }): Promise<Output | undefined>;
  measure(output: Output, aspects: readonly Aspect[]): Promise<MediaFacts | undefined>;
}

/**
 * Journal of create requests by idempotency key, for one account and campaign name, independent of the lock. Stored in
 * the user state directory or in an engine's database. Enforces spending limits across campaigns.
 */
export interface PurchaseJournal {
  /** Reserves an idempotency key. Waits until no other run has reserved the key, or until `isStopped` returns true. */
  reserve(key: string, options: ReserveOptions): Promise<Reservation>;
  /**
   * Reserves credits before a create request is sent. Reserved plus charged credits of all campaigns exceed a limit
   * only if a charge is higher than its reservation.
   */
  hold(purchase: Hold, lock?: Pick<Lock, 'steps'>): Promise<HoldAnswer>;
  /** Ends the reservation of a key. The credits of an unresolved create stay reserved. */
  release(key: string): void;
  /** Appends a line. Resolves when other processes can read it or, with `text` (a lock line), when it is durable. */
  add(line: LockLine, text?: string): Promise<void>;
}

export interface ReserveOptions {
  fingerprint: string;
  /** ID of the create request whose lost answer this run recovers. */
  asks: string | undefined;
  /** Returns true if the lock has an answer to the create request or a user's decision about it. */
  isClosed(send: string): boolean;
  isStopped(): boolean;
}

/** `known`: the journal has jobs or unresolved creates with the same idempotency key; `records` lists their steps. */
export type Reservation = { is: 'reserved' } | { is: 'stopped' } | { is: 'known'; records: readonly StepRecord[] };

export interface LockFile {
  readonly path: string;
  /**
   * Appends a line, which must end with LF. Resolves when the line is durable. After a failed call, all later calls
   * reject. Rejects with `LockChangedError` if another program replaced the file.
   */
  append(line: string): Promise<void>;
  /**
   * Replaces all lines. Each line ends with LF. May succeed after a failed `append`. Rejects with `LockChangedError` if
   * another program wrote the file. The caller then merges both versions and opens the file again.
   */
  replace(lines: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Stores bodies of unresolved create requests, which must be sent again byte for byte. A body contains signed links, so
 * it is not in the lock. Ignores files that another user wrote. Throws `UnsafeFileError` for a symbolic link.
 */
export interface RequestBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
  answered(key: string): Promise<void>;
}

/** Durations of finished jobs in ms, newest last, by kind and model. Stored between runs. */
export interface KeptDurations {
  [kindAndModel: string]: number[];
}
