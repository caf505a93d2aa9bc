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
  /** Digests of files that may be replaced. Another file at the destination is kept under another name. */
  replaces: readonly string[];
  /** Saves the file even if its format is unknown or its end is missing, because a user accepted it. */
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
  /** Whether a failed job may be bought again now. Defaults to always. */
  mayRetry?(order: StepOrder, error: string): boolean;
  /** When aborted, no further purchase starts, and watching stops. Requests in flight are awaited. */
  signal: AbortSignal;
  /** Longest wait in ms accepted from the service. At least 10 minutes. */
  patienceMs?: number | undefined;
}

export type Begin =
  /**
   * The price is reserved (`null` if unknown). `open`: unresolved create of the order. `body`: bytes of that create.
   * `held`: why only a user can resolve that create. `job`: existing job, so nothing is created.
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
  /** The service refused the create request and charged nothing. */
  | { state: Extract<PurchaseState, 'refused'>; error: string; send: string }
  /** The service has a purchase under the idempotency key, but did not return its job. A user decides. */
  | { state: Extract<PurchaseState, 'unresolved'>; error: string; send: string }
  /** The create request was not sent, or the service's list does not contain its job. */
  | { state: 'unsent'; send: string };

/** Source of truth about purchases. Every promise resolves when the fact is durable. A rejection ends all spending. */
export interface Ledger {
  /** Reserves the step's price. Waits while another step probes that price. Idempotent per order. */
  begin(order: StepOrder): Promise<Begin>;
  /** Records a create request before it is sent. Resolves with the id of the request. */
  intent(order: StepOrder, request: IntendedRequest): Promise<string>;
  /**
   * Records the answer before the first poll, and settles the reservation. `credits`: the charge, or `null` if unknown.
   * Resolves with `taken` if another request has this job id. The create request then stays unresolved.
   */
  created(order: StepOrder, job: CreatedJob, answered: AnsweredSend): Promise<{ credits: number | null } | 'taken'>;
  finish(order: StepOrder, result: StepResult): Promise<void>;
  /** Releases a reservation when nothing was sent. */
  release(order: StepOrder): void;
  /** Keeps the reservation of a charge that this run cannot determine. No other step waits for the charge. */
  doubt(order: StepOrder): void;
  /**
   * Ends a step after an internal error. Keeps the reservation of a possible charge, and releases any other. Returns
   * the recorded purchase, preferably an unresolved create; `broken`: the record cannot be written.
   */
  abandon(order: StepOrder): Purchase | 'broken' | undefined;
  /** Returns the first bytes sent under the idempotency key, if they differ from the order's bytes. */
  firstBody(order: StepOrder): Promise<string | undefined>;
  jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined>;
  keyOfJob(kind: string, jobId: string): Promise<string | undefined>;
}

/** Create request of a job. If the service replays its key, the job answers all requests under that key. */
export type AnsweredSend = Pick<IntendedRequest, 'replays' | 'at'> & { id: string };

export interface IntendedRequest {
  body: string;
  replays: boolean;
  /** Milliseconds since 1970, by the service's clock. */
  at: number;
  /** Newest listed job before the request. */
  fence?: string | undefined;
  /** Id of the repeated create request, whose job is not in the service's list. */
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
   * Resolves with `in` when the create request may be sent, with `stop` when it may not. `isAsked`: the request only
   * recovers a lost answer, so it may be sent even if the account is empty or spending has ended.
   */
  enter(order: StepOrder, options: { signal: AbortSignal; isAsked: boolean }): Promise<'in' | 'stop'>;
  /** Called once for each `in`, after the answer is recorded. `again`: the request may be retried in this run. */
  leave(order: StepOrder, departure: Departure): 'again' | 'over';
  /** Stops all create requests. `until`: time in ISO 8601 until which the service requests to wait. */
  stop(because: StopReason, detail: string, until?: string): void;
}

/** Recovers lost answers to create requests from the service's list of jobs, for kinds without replay. */
export interface LostCreates {
  /**
   * Returns the newest job of the kind's list; `undefined` if there is no readable list. Throws `ServiceError` while
   * the service is unreachable: a create request that only the list can recover must not be sent then.
   */
  fence(kind: string): Promise<string | undefined>;
  /** Searches for the job of a create request. Must be called before the request leaves the gate. */
  lookUp(order: StepOrder, lost: LostSend): Promise<LookUp>;
}

export interface LostSend {
  id: string;
  /** Milliseconds since 1970. */
  sentAt: number;
  fence: string;
  resent: boolean;
}

/** `stop`: interrupted. `held`: the search is disabled. `unread`: the list cannot be read now. */
export type LookUp = LookUpVerdict<ListedJob> | { do: 'stop' } | { do: 'held' } | { do: 'unread'; error: string };

export interface FinishedJob {
  kind: string;
  jobId: string;
  /** Public URL of an uploaded file, which has no status. */
  url?: string;
  files: number;
}

/** A local file, or a URL that the service fetches. */
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
  /** Patience for this job in ms, if shorter than for all jobs. */
  patienceMs?: number | undefined;
  /** Above 0. Below 1 if no step waits for the job. Defaults to 1. */
  urgency?: () => number;
}

export interface Service {
  /** Whether resending an idempotency key recovers a lost answer of this kind. */
  replays(kind: string): boolean;
  /**
   * Returns how far the service's clock is ahead of the local clock, in ms; 0 if unknown. May send a free request, and
   * always does with `fresh`. `unreachable`: the service does not answer, so nothing paid may be sent.
   */
  clockAheadMs(options?: { fresh?: boolean }): Promise<number | { unreachable: string }>;
  /** Sends a single POST without retries. `body` is canonical JSON. */
  create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer>;
  watch(job: { kind: string; jobId: string; model?: string }, options: WatchOptions): Promise<JobEnd>;
  /** Returns the id of the newest job in a kind's list, or an empty string. Throws `ServiceError`. */
  newestJob(kind: string): Promise<string>;
  /** Reads the kind's list from the newest job to all of the fences. Throws `ServiceError`. */
  walkJobs(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>>;
  /** Free, and may be repeated. */
  upload(order: UploadOrder, signal: AbortSignal): Promise<UploadAnswer>;
}

export interface Downloads {
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
}

export interface Outputs extends Omit<OutputFiles, 'save'> {
  /** Tries once to download and save a file. Throws `OutputError` if saving fails. */
  fetch(target: OutputTarget, file: JobFile, options: { signal: AbortSignal }): Promise<FetchAnswer>;
}

export interface OutputFiles {
  /** Streams into a temporary file, verifies it, and renames it into place. Throws `OutputError`. */
  save(target: OutputTarget, download: Download): Promise<Output>;
  /**
   * Copies a file to the target's name. Resolves with `undefined` if the file is missing or changed. `remove`: removes
   * the old name, which no step uses.
   */
  relocate(target: OutputTarget, from: Output, options?: { remove?: boolean }): Promise<Output | undefined>;
  measure(output: Output, aspects: readonly Aspect[]): Promise<MediaFacts | undefined>;
}

/**
 * Journal of purchases by idempotency key, for one campaign name and account, in files of the user or tables of an
 * engine. Independent of the lock. Each request that was sent is in the journal. Enforces limits of all campaigns.
 */
export interface PurchaseJournal {
  /** Reserves an idempotency key for this run. Waits while another run may buy under the key, until `isStopped`. */
  reserve(key: string, options: ReserveOptions): Promise<Reservation>;
  /**
   * Holds credits across all campaigns before a create request is sent. With a limit, the hold is durable. Held and
   * charged credits never exceed a limit, unless a charge exceeds its hold.
   */
  hold(purchase: Hold): Promise<HoldAnswer>;
  /** Ends the reservation of a key without a request in flight. Credits of an unresolved create stay held. */
  release(key: string): void;
  /** Resolves when other processes can read the line. `text`: the line in the lock, which makes it durable. */
  add(line: LockLine, text?: string): Promise<void>;
}

export interface ReserveOptions {
  /** Fingerprint of the request. Records of other requests do not count. */
  fingerprint: string;
  /** Id of the create request whose answer is to be recovered. */
  asks: string | undefined;
  /** Whether the lock contains an answer to the create request, or a decision about it. */
  isClosed(send: string): boolean;
  isStopped(): boolean;
}

/** `known`: purchases and unresolved creates under the idempotency key, by address. */
export type Reservation = { is: 'reserved' } | { is: 'stopped' } | { is: 'known'; records: readonly StepRecord[] };

export interface LockFile {
  readonly path: string;
  /**
   * Appends one line with its LF. Resolves when it is durable. After a failure, every later call rejects with the same
   * error. Rejects with `LockChangedError` if another program has replaced the file.
   */
  append(line: string): Promise<void>;
  /**
   * Replaces all lines, each with its LF. May succeed after a failed `append`. Rejects with `LockChangedError` if
   * another program wrote the file: the caller reads and joins the file, and opens it again.
   */
  replace(lines: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Bodies of create requests in flight, which must be resent byte for byte. They are not in the lock, because they
 * contain signed links. Reads only files of this machine, because a branch may contain others. Throws `UnsafeFileError`
 * for a symbolic link.
 */
export interface RequestBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
  /** Records that the create request was answered. */
  answered(key: string): Promise<void>;
}

/** Durations of finished jobs in ms, newest last, by kind and model; kept between runs. */
export interface KeptDurations {
  [kindAndModel: string]: number[];
}
