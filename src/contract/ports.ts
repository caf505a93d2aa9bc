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

/** Place where a download becomes a file. */
export interface OutputTarget {
  address: string;
  /** Path without extension. */
  save: string;
  media: Media;
  /** Digests of files that may be replaced. Any other file in the way is kept under another name. */
  replaces: readonly string[];
  /** The file is saved even if its format is unknown or its end is missing, because a user accepted it. */
  asIs?: true;
  /** Called when a file in the way was put aside. */
  notice(message: string): void;
}

/** Everything a step needs from outside. */
export interface Ports {
  ledger: Ledger;
  gate: CreateGate;
  lost: LostCreates;
  service: Service;
  outputs: Outputs;
  clock: Clock;
  emit(fact: RunFact): void;
  /** Returns whether a failed job may be bought again now, if the order allows it. Without it, it always may. */
  mayRetry?(order: StepOrder, error: string): boolean;
  /** Aborted: start no further paid act, stop watching; requests in flight are awaited. */
  signal: AbortSignal;
  /** How long the service may ask to wait, where that is more than 10 minutes. */
  patienceMs?: number | undefined;
}

export type Begin =
  /**
   * The price is held (`reserved` null: not known yet). `open`: the order's send, which still awaits its answer, with these
   * bytes if they are still known; `job`: it was answered, nothing is to be created.
   */
  | {
      do: 'go';
      reserved: number | null;
      open?: AskedSend;
      body?: string | undefined;
      job?: { jobId: string; credits: number | null };
    }
  /** The step is not bought in this run. */
  | { do: 'stop'; because: StopReason };

export type StepResult =
  | { state: Extract<PurchaseState, 'done'>; outputs: Output[]; jobId: string; url?: string }
  | { state: Extract<PurchaseState, 'failed' | 'lost'>; error: string; jobId: string }
  /** The service declined this send: it certainly charged nothing for it. */
  | { state: Extract<PurchaseState, 'refused'>; error: string; send: string }
  /** The service knows a purchase under its key, and nothing tells which job it is: the send stays open, for a person. */
  | { state: Extract<PurchaseState, 'unresolved'>; error: string; send: string }
  /** It never left, or a list shows that nothing came of it: as if it had never begun. */
  | { state: 'unsent'; send: string };

/**
 * The truth about money: budget, sends, job IDs. Its local form is the lock file.
 * Every promise resolves only when the fact is durable. A rejection ends all spending.
 */
export interface Ledger {
  /** Reserves the step's price; waits while another step is finding the price out. Idempotent per order. */
  begin(order: StepOrder): Promise<Begin>;
  /** Durable before the request leaves. Resolves with the ID of the send, a new one for each new send. */
  intent(order: StepOrder, request: IntendedRequest): Promise<string>;
  /**
   * Durable before the first poll. Settles the reservation. `taken`: the ID is on record for another request, so this
   * job's ID is not known, and the send stays open. Of two concurrent answers with one ID, only the first gets it.
   * `credits`: what it was charged, as far as anything tells.
   */
  created(order: StepOrder, job: CreatedJob, answered: AnsweredSend): Promise<{ credits: number | null } | 'taken'>;
  finish(order: StepOrder, result: StepResult): Promise<void>;
  /** Gives back a reservation: nothing has been sent. */
  release(order: StepOrder): void;
  /** This run will not learn whether it was charged: the reservation is kept, and nobody waits for it. */
  doubt(order: StepOrder): void;
  /**
   * A mistake of ours broke the step off: what may have been charged stays held, anything else is given back. Returns what is
   * on record of this purchase, an open send before all else; `broken`: the record itself cannot be kept.
   */
  abandon(order: StepOrder): Purchase | 'broken' | undefined;
  /** The bytes that were sent under this key before, and answered, if they were others than those sent now. */
  firstBody(order: StepOrder): Promise<string | undefined>;
  /** The finished job of a step for exactly this request, to query its output's links. */
  jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined>;
  /** The key under which a job of this kind is already on record, if any. */
  keyOfJob(kind: string, jobId: string): Promise<string | undefined>;
}

/** The send that a job answers. If its key is replayed, the job answers all of its sends that are still replayed. */
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
  /** The fence, as in `Purchase`. */
  fence?: string;
  /** The send that this one replaces, because a list has shown that nothing came of it. */
  resent?: string;
}

/** How a create left the gate. */
export type Departure =
  | { is: 'accepted' }
  /** Comes back at once. */
  | { is: 'returning' }
  /** A 429: no creates for this long. */
  | { is: 'throttled'; afterMs: number }
  /** Refused because the account is empty. */
  | { is: 'out-of-credits'; error: string }
  | { is: 'undecided' };

/** Decides when creates may leave, inside one process. */
export interface CreateGate {
  /** Reason why no further create leaves. */
  readonly stopped: StopReason | undefined;
  /**
   * Resolves with `in` when this create may leave, with `stop` when it no longer may. `isAsked`: it asks for a lost
   * answer, which costs nothing new, so neither an empty account nor the end of spending holds it back.
   */
  enter(order: StepOrder, options: { signal: AbortSignal; isAsked: boolean }): Promise<'in' | 'stop'>;
  /** Called once for each `in`, when its answer is known and recorded. `again`: may be retried in this run. */
  leave(order: StepOrder, departure: Departure): 'again' | 'over';
  /** No create begins after this. `until`: ISO 8601, when the service asks to wait until then. */
  stop(because: StopReason, detail: string, until?: string): void;
}

/** Recovers creates whose answers were lost, from the service's list of jobs: for kinds whose keys are not replayed. */
export interface LostCreates {
  /**
   * The newest job of the kind's list; undefined if the service has no readable list. Throws `ServiceError` while the
   * service is unreachable: then a create that can only be looked up must not leave either.
   */
  fence(kind: string): Promise<string | undefined>;
  /**
   * `sentAt`: when the request left, milliseconds since 1970. Called before its create leaves the gate, so that the
   * search is known when the next one may enter.
   */
  lookUp(order: StepOrder, lost: LostSend): Promise<LookUp>;
}

export interface LostSend {
  id: string;
  sentAt: number;
  fence: string;
  resent: boolean;
}

/** `stop`: interrupted before the result was known; `held`: nobody is to search; `unread`: no readable list now. */
export type LookUp = LookUpVerdict<ListedJob> | { do: 'stop' } | { do: 'held' } | { do: 'unread'; error: string };

export interface FinishedJob {
  kind: string;
  jobId: string;
  /** Public URL of an uploaded file, which is not queried. */
  url?: string;
  /** Number of files that it produced. */
  files: number;
}

/** A file to bring into the media library: a local one, or one that the service fetches itself. */
export type UploadOrder = { fileName?: string; contentType?: string } & (
  | { path: string; sha256: string; bytes: number }
  | { url: string }
);

export interface WatchOptions {
  signal: AbortSignal;
  /** Just created: parts of the service may not know it yet. */
  fresh: boolean;
  onStatus(status: string): void;
  notice(message: string): void;
  /** Patience for this job in ms, if shorter than for all jobs. */
  patienceMs?: number | undefined;
  /** Importance of seeing its end, above 0; below 1 where nobody waits for it. Default: 1. */
  urgency?: () => number;
}

export interface Service {
  /** True if sending the same key again recovers a lost answer of this kind. */
  replays(kind: string): boolean;
  /**
   * How far the service's clock is ahead of this one, in ms; 0 if it does not say. May query the service, at no cost;
   * `unreachable`: it does not answer, so send it nothing that is paid for. `fresh`: only from an answer yet to come.
   */
  clockAheadMs(options?: { fresh?: boolean }): Promise<number | { unreachable: string }>;
  /** A single POST, never retried here. `body` is canonical JSON. */
  create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer>;
  /** Resolves when the job has ended, or is no longer watched. */
  watch(job: { kind: string; jobId: string; model?: string }, options: WatchOptions): Promise<JobEnd>;
  /** Jobs in flight beyond which polling is the bottleneck. Unlimited by default. */
  usefulInFlight?(): number;
  /** The newest job of a kind's list; empty if there is none. Throws `ServiceError`. */
  newestJob(kind: string): Promise<string>;
  /** The kind's list from the newest job down to all of the fences. Throws `ServiceError`. */
  walkJobs(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>>;
  /** Costs nothing, and may be repeated. */
  upload(order: UploadOrder, signal: AbortSignal): Promise<UploadAnswer>;
}

/** Begins downloads, in this process. */
export interface Downloads {
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
}

/** Brings outputs to where the campaign has them, and looks after them there. */
export interface Outputs extends Omit<OutputFiles, 'save'> {
  /** One try. Throws `OutputError` where the files are at fault, not the download. */
  fetch(target: OutputTarget, file: JobFile, options: { signal: AbortSignal }): Promise<FetchAnswer>;
}

/** The files of a campaign below one folder. */
export interface OutputFiles {
  /** Streams into a temporary file, verifies it, and renames it into place. Throws `OutputError`. */
  save(target: OutputTarget, download: Download): Promise<Output>;
  /**
   * Puts a file that is already here (same bytes) under the target's name; undefined when it is gone or changed.
   * `remove`: its old name goes, because no step uses it any more. Otherwise both names stay, as two files.
   */
  relocate(target: OutputTarget, from: Output, options?: { remove?: boolean }): Promise<Output | undefined>;
  /** Media facts of a saved file; undefined when it cannot be read. */
  measure(output: Output, aspects: readonly Aspect[]): Promise<MediaFacts | undefined>;
}

/**
 * Purchases under one campaign name and account, by idempotency key, whatever became of the lock, and the limits that they
 * share with other campaigns. Lines are those of the lock, written when they are: a run that is killed has sent nothing that
 * the journal does not have. Its homes are files of this user, and tables of an engine.
 */
export interface PurchaseJournal {
  /**
   * Resolves when no other run can be buying under this key: it is reserved for this run, or its records are returned. A run
   * that is buying it is waited for until `isStopped`. `asks`: the send whose answer is asked for under it.
   */
  reserve(key: string, options: ReserveOptions): Promise<Reservation>;
  /**
   * Counts credits over all campaigns and processes, before a create leaves: durable where a limit is set. What is held and
   * charged together never passes a limit, but for a charge above its hold.
   */
  hold(purchase: Hold): Promise<HoldAnswer>;
  /** No create is under way under this key any more. Credits of a create request without an answer stay held. */
  release(key: string): void;
  /** Resolves when other processes see the line. It is durable when the lock's is. `text`: the line as the lock has it. */
  add(line: LockLine, text?: string): Promise<void>;
}

export interface ReserveOptions {
  /** Fingerprint of the request: records of another one are no answer. */
  fingerprint: string;
  asks: string | undefined;
  /** Whether the lock has the end of this unresolved create: an answer, or a decision about it. */
  isClosed(send: string): boolean;
  isStopped(): boolean;
}

/** Answer to `reserve`; `known` comes with the purchases and unresolved creates under the key, by address. */
export type Reservation = { is: 'reserved' } | { is: 'stopped' } | { is: 'known'; records: readonly StepRecord[] };

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
