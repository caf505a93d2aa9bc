/*
 * What engine, run, service and disk share: ports, events, failures, exit codes, the clock.
 * Takes and returns nothing: types, and the small functions that belong to them.
 * May not know: an implementation of a port. A port exists only where there are two, or a test double.
 */

import type { Media } from '../kinds/kind.ts';
import type { LockLine, Output, Purchase, PurchaseState, StepRecord } from '../lock/record.ts';
import type { Aspect, MediaFacts } from '../plan/outputs/expectation.ts';
import type { AskedSend, StepOrder } from '../plan/plan.ts';
import type {
  CreateAnswer,
  CreatedJob,
  Download,
  DownloadAnswer,
  FetchAnswer,
  JobEnd,
  JobFile,
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
  /** Digests of files that may be replaced. Any other file at the destination is kept under another name. */
  replaces: readonly string[];
  /** True to save the file even if its format is unknown or its end is missing, because a user accepted it. */
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
  /** Returns whether a failed job may be bought again now, if the order allows it. Defaults to always. */
  mayRetry?(order: StepOrder, error: string): boolean;
  /** When aborted, no further purchase starts and watching stops; requests in flight are awaited. */
  signal: AbortSignal;
  /** Longest wait in ms that is accepted from the service, if more than 10 minutes. */
  patienceMs?: number | undefined;
}

export type Begin =
  /**
   * The price is reserved (`reserved`: `null` if unknown). `open`: the order's create request that still lacks its
   * answer. `body`: the bytes of that request, if still stored. `held`: why only a user can settle that request. `job`:
   * the job exists already, so nothing is created.
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
  /** The service refused this create request: it certainly charged nothing for it. */
  | { state: Extract<PurchaseState, 'refused'>; error: string; send: string }
  /**
   * The service knows a purchase under the idempotency key, but not its job. The create request stays open until a
   * person decides.
   */
  | { state: Extract<PurchaseState, 'unresolved'>; error: string; send: string }
  /** No job was made: the create request never left, or the service's list lacks its job. It counts as never begun. */
  | { state: 'unsent'; send: string };

/**
 * Source of truth about purchases: budget, create requests, job IDs. Locally, this is the lock file. Every promise
 * resolves only when the fact is durable. A rejection ends all spending.
 */
export interface Ledger {
  /** Reserves the step's price; waits while another step probes that price. Idempotent per order. */
  begin(order: StepOrder): Promise<Begin>;
  /** Makes a create request durable before it leaves. Resolves with its ID, a new one for each new request. */
  intent(order: StepOrder, request: IntendedRequest): Promise<string>;
  /**
   * Makes the answer durable before the first poll, and settles the reservation. Resolves with `taken` if
   * another request already has this job ID: the create request then stays open, because its own job is unknown. If two
   * answers contain the same ID, only the first one gets it. `credits`: the charge, or `null` if it is unknown.
   */
  created(order: StepOrder, job: CreatedJob, answered: AnsweredSend): Promise<{ credits: number | null } | 'taken'>;
  finish(order: StepOrder, result: StepResult): Promise<void>;
  /** Releases a reservation, because nothing has been sent. */
  release(order: StepOrder): void;
  /** Keeps the reservation: this run will not learn the charge. No other step waits for it. */
  doubt(order: StepOrder): void;
  /**
   * Ends a step that an internal error interrupted: a possible charge stays held, any other reservation is released.
   * Returns the recorded purchase, preferably an open create request; `broken`: the record cannot be written.
   */
  abandon(order: StepOrder): Purchase | 'broken' | undefined;
  /** Returns the bytes first sent and answered under this idempotency key, if they differ from those sent now. */
  firstBody(order: StepOrder): Promise<string | undefined>;
  /** Returns the finished job of a step for exactly this request, whose output links can be queried. */
  jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined>;
  /** Returns the idempotency key under which a job of this kind is already recorded, if any. */
  keyOfJob(kind: string, jobId: string): Promise<string | undefined>;
}

/**
 * The create request that a job answers. If its idempotency key is replayed, the job answers all requests under that
 * key that are still replayed.
 */
export interface AnsweredSend {
  id: string;
  replays: boolean;
  /** Milliseconds since 1970, by the service's clock. */
  at: number;
}

export interface IntendedRequest {
  body: string;
  replays: boolean;
  /** Milliseconds since 1970, by the service's clock. */
  at: number;
  /** The newest listed job before the request, as in `Purchase`. */
  fence?: string | undefined;
  /** Id of the earlier create request that this request repeats: the service's list has shown that the earlier one made no job. */
  resent?: string | undefined;
}

export type Departure =
  | { is: 'accepted' }
  /** The request enters the gate again at once. */
  | { is: 'returning' }
  /** A 429: no create requests for this many ms. */
  | { is: 'throttled'; afterMs: number }
  | { is: 'out-of-credits'; error: string }
  | { is: 'undecided' };

export interface CreateGate {
  readonly stopped: StopReason | undefined;
  /**
   * Resolves with `in` when this create request may leave, with `stop` when it no longer may. `isAsked`: it only
   * recovers a lost answer, which costs nothing new, so it passes even if the account is empty or spending has ended.
   */
  enter(order: StepOrder, options: { signal: AbortSignal; isAsked: boolean }): Promise<'in' | 'stop'>;
  /** Called once for each `in`, when the answer is known and recorded. `again`: may be retried in this run. */
  leave(order: StepOrder, departure: Departure): 'again' | 'over';
  /** Stops all further create requests. `until`: time in ISO 8601 until which the service requests to wait. */
  stop(because: StopReason, detail: string, until?: string): void;
}

/** Recovers lost answers to create requests from the service's list of jobs, for kinds whose keys are not replayed. */
export interface LostCreates {
  /**
   * Returns the newest job of the kind's list; `undefined` if the service has no readable list. Throws `ServiceError`
   * while the service is unreachable: then a create request that only the list can recover must not leave.
   */
  fence(kind: string): Promise<string | undefined>;
  /**
   * Starts the search for a create request. `sentAt`: when it left, in ms since 1970. Must be called before the request
   * leaves the gate, so that the search is registered before the next request may enter.
   */
  lookUp(order: StepOrder, lost: LostSend): Promise<LookUp>;
}

export interface LostSend {
  id: string;
  sentAt: number;
  fence: string;
  resent: boolean;
}

/** `stop`: interrupted before the result was known; `held`: the search is disabled; `unread`: no readable list now. */
export type LookUp = LookUpVerdict<ListedJob> | { do: 'stop' } | { do: 'held' } | { do: 'unread'; error: string };

export interface FinishedJob {
  kind: string;
  jobId: string;
  /** Public URL of an uploaded file, for which no status is queried. */
  url?: string;
  files: number;
}

/** A local file, or a URL that the service fetches itself, for the media library. */
export type UploadOrder = { fileName?: string; contentType?: string } & (
  | { path: string; sha256: string; bytes: number }
  | { url: string }
);

export interface WatchOptions {
  signal: AbortSignal;
  /** True if the job was just created, so parts of the service may not know it yet. */
  fresh: boolean;
  onStatus(status: string): void;
  notice(message: string): void;
  /** Patience for this job in ms, if shorter than for all jobs. */
  patienceMs?: number | undefined;
  /** Importance of noticing the job's end, above 0; below 1 if no step waits for it. Defaults to 1. */
  urgency?: () => number;
}

export interface Service {
  /** True if resending the same idempotency key recovers a lost answer of this kind. */
  replays(kind: string): boolean;
  /**
   * Returns how far the service's clock is ahead of the local clock, in ms; 0 if unknown. May send a free request.
   * `unreachable`: the service does not answer, so nothing paid may be sent to it. `fresh`: uses only a new answer.
   */
  clockAheadMs(options?: { fresh?: boolean }): Promise<number | { unreachable: string }>;
  /** Sends a single POST, never retried here. `body` is canonical JSON. */
  create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer>;
  watch(job: { kind: string; jobId: string; model?: string }, options: WatchOptions): Promise<JobEnd>;
  /** ID of the newest job in a kind's list, or an empty string if there is none. Throws `ServiceError`. */
  newestJob(kind: string): Promise<string>;
  /** Reads the kind's list from the newest job down to all of the fences. Throws `ServiceError`. */
  walkJobs(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>>;
  /** Free, and may be repeated. */
  upload(order: UploadOrder, signal: AbortSignal): Promise<UploadAnswer>;
}

export interface Downloads {
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
}

export interface Outputs extends Omit<OutputFiles, 'save'> {
  /** Tries once to download and save a file. Throws `OutputError` if saving fails, not the download. */
  fetch(target: OutputTarget, file: JobFile, options: { signal: AbortSignal }): Promise<FetchAnswer>;
}

export interface OutputFiles {
  /** Streams into a temporary file, verifies it, and renames it into place. Throws `OutputError`. */
  save(target: OutputTarget, download: Download): Promise<Output>;
  /**
   * Copies or renames a local file (same bytes) to the target's name; `undefined` if it is missing or changed.
   * `remove`: its old name is removed, because no step uses it any more. Otherwise both files stay.
   */
  relocate(target: OutputTarget, from: Output, options?: { remove?: boolean }): Promise<Output | undefined>;
  /** Returns media facts of a saved file; `undefined` if it cannot be read. */
  measure(output: Output, aspects: readonly Aspect[]): Promise<MediaFacts | undefined>;
}

/**
 * Journal of purchases by idempotency key, for one campaign name and account. It is independent of the lock, and
 * contains the spending limits shared with other campaigns. Its lines are the lock's, written at the same time, so a
 * killed run has sent nothing that the journal lacks. Stored in files of this user, or in tables of an engine.
 */
export interface PurchaseJournal {
  /**
   * Reserves an idempotency key for this run, or resolves with its records. Waits while another run may be buying under
   * it, until `isStopped`. `asks`: id of the create request whose answer is looked up.
   */
  reserve(key: string, options: ReserveOptions): Promise<Reservation>;
  /**
   * Holds credits across all campaigns and processes, before a create request leaves. The hold is durable if a limit is
   * set. Held and charged credits together never exceed a limit, unless a charge exceeds its hold.
   */
  hold(purchase: Hold): Promise<HoldAnswer>;
  /**
   * Ends the reservation of a key: none of its create requests is in flight. Credits of an unanswered one stay held.
   */
  release(key: string): void;
  /**
   * Adds a line. Resolves when other processes can read it. It is durable when the lock's line is. `text`: the line as
   * written to the lock.
   */
  add(line: LockLine, text?: string): Promise<void>;
}

export interface ReserveOptions {
  /** Fingerprint of the request: records of another request do not count. */
  fingerprint: string;
  asks: string | undefined;
  /** Whether the lock contains the end of this unresolved create request: an answer, or a decision about it. */
  isClosed(send: string): boolean;
  isStopped(): boolean;
}

/**
 * Result of `reserve`; `known` has the purchases and unresolved create requests under the idempotency key, by address.
 */
export type Reservation = { is: 'reserved' } | { is: 'stopped' } | { is: 'known'; records: readonly StepRecord[] };

export interface LockFile {
  readonly path: string;
  /**
   * Appends one line (with its LF). Resolves when it is durable; waiting lines share one write and one fdatasync, in
   * order of arrival. After a failure every later call rejects with the same error. Rejects with `LockChangedError` if
   * another program has replaced the file.
   */
  append(line: string): Promise<void>;
  /**
   * Replaces the file with these lines (each with its LF), which are consumed as they are written. May succeed after a
   * failed `append`, and then saves its lines, too. Rejects with `LockChangedError` if another program wrote the file:
   * read it again, join it with the known lock, reopen it.
   */
  replace(lines: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Bodies of create requests in flight, one file per idempotency key, next to the lock but not in git. A body that
 * contains another step's link must be resent byte for byte: the link may be signed and differ tomorrow, and links must
 * not be in the lock. The folder may come from another person's branch: only files written on this machine are read,
 * and nothing is written or removed through a link (`UnsafeFileError`).
 */
export interface RequestBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
  /** Records that the create request was answered: its body is then needed only while the service knows the key. */
  answered(key: string): Promise<void>;
}

/** Durations of finished jobs in ms, newest last, by kind and model; kept between runs. */
export interface KeptDurations {
  [kindAndModel: string]: number[];
}
