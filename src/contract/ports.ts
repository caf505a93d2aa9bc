import type { Output, PurchaseState } from '../lock/record.ts';
import type { MediaFacts } from '../plan/expectation.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { CreateAnswer, CreatedJob, Download, DownloadAnswer, JobEnd, UploadAnswer } from './answer.ts';
import type { Clock } from './clock.ts';
import type { RunFact, StopReason } from './event.ts';
import type { ListedJob, ListWalk, LookUpVerdict } from './listed-job.ts';
import type { OutputTarget } from './output-target.ts';

/** All that carrying out a step needs of the world. */
export interface Ports {
  ledger: Ledger;
  gate: CreateGate;
  lost: LostCreates;
  service: Service;
  outputs: Outputs;
  clock: Clock;
  emit(fact: RunFact): void;
  /** Aborted: start no paid act any more, stop watching; what is on the wire is awaited. */
  signal: AbortSignal;
}

export type Begin =
  /**
   * The price is held (`reserved` null: not known yet). `isOpen`: the order's send still waits for its answer, with these
   * bytes if they are still known; `job`: it was answered, nothing is to be created.
   */
  | {
      do: 'go';
      reserved: number | null;
      isOpen?: true;
      body?: string | undefined;
      job?: { jobId: string; credits: number | null };
    }
  /** This step is not bought in this run. */
  | { do: 'stop'; because: StopReason };

export type StepResult =
  | { state: Extract<PurchaseState, 'done'>; outputs: Output[]; jobId: string; url?: string }
  | { state: Extract<PurchaseState, 'failed' | 'lost'>; error: string; jobId: string }
  /** The service said no to this send: nothing was charged for it, for certain. */
  | { state: Extract<PurchaseState, 'refused'>; error: string; send: string }
  /** It never left, or a list shows that nothing came of it: as if it had never begun. */
  | { state: 'unsent'; send: string };

/**
 * The truth about money: budget, sends, job ids. Its local form is the lock file.
 * Every promise resolves only when the fact is durable. A rejection ends all spending.
 */
export interface Ledger {
  /** Reserves the step's price; waits while the price is being found out by another step. Idempotent per order. */
  begin(order: StepOrder): Promise<Begin>;
  /** Durable before the request leaves. Resolves with the id of the send, which is another one for each new send. */
  intent(order: StepOrder, request: IntendedRequest): Promise<string>;
  /**
   * Durable before the first poll. Settles the reservation. `taken`: the id is on record for another request, so this
   * job's is not known, and the send stays open. Two answers at once with one id: only the first gets it.
   */
  created(order: StepOrder, job: CreatedJob, answered: AnsweredSend): Promise<'recorded' | 'taken'>;
  finish(order: StepOrder, result: StepResult): Promise<void>;
  /** Gives back a reservation: nothing has been sent. */
  release(order: StepOrder): void;
  /** This run will not find out whether it was charged: the reservation is kept, and nobody waits for it. */
  doubt(order: StepOrder): void;
  /** The finished job of a step for exactly this request, to ask for its output's links. */
  jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined>;
  /** The key under which a job of this kind is on record already, if it is. */
  keyOfJob(kind: string, jobId: string): Promise<string | undefined>;
}

/** The send that a job answers. Where its key is replayed, the job answers every send of that key which is still replayed. */
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
  /** As in `Purchase`. */
  fence?: string;
  /** The send in whose place this one leaves, because a list has shown that nothing came of it. */
  resent?: string;
}

/** How a create came out of the gate. */
export type Departure =
  | { is: 'accepted' }
  /** It comes back at once. */
  | { is: 'returning' }
  /** A 429: nobody creates for so long. */
  | { is: 'throttled'; afterMs: number }
  /** Refused because the account is empty. */
  | { is: 'out-of-credits'; error: string }
  | { is: 'undecided' };

/** What lets creates leave, inside one process. */
export interface CreateGate {
  /** Why no further create leaves. */
  readonly stopped: StopReason | undefined;
  /**
   * Resolves when this create may leave, `stop`: it may not any more. `isAsked`: it asks for a lost answer, which costs
   * nothing new, so neither an empty account nor the end of spending keeps it back.
   */
  enter(order: StepOrder, options: { signal: AbortSignal; isAsked: boolean }): Promise<'in' | 'stop'>;
  /** Called once for each `in`, when its answer is known and recorded. `again`: it may be tried again in this run. */
  leave(order: StepOrder, departure: Departure): 'again' | 'over';
  /** No create begins after this. */
  stop(because: StopReason, detail: string): void;
}

/** Finds creates again whose answers were lost, by the service's list of jobs: for kinds whose keys are not replayed. */
export interface LostCreates {
  /**
   * The newest job of the kind's list; undefined where the service has none that can be read. Throws `ServiceError` while the
   * service is not there: then a create that can only be looked up must not leave either.
   */
  fence(kind: string): Promise<string | undefined>;
  /**
   * `sentAt`: when the request left, milliseconds since 1970. Called before its create leaves the gate, so that the search
   * is known of when the next one may enter.
   */
  lookUp(order: StepOrder, lost: LostSend): Promise<LookUp>;
}

export interface LostSend {
  id: string;
  sentAt: number;
  fence: string;
  resent: boolean;
}

/** `stop`: the run was interrupted before it was known; `held`: nobody is to search; `unread`: the list could not be read now. */
export type LookUp = LookUpVerdict<ListedJob> | { do: 'stop' } | { do: 'held' } | { do: 'unread'; error: string };

export interface FinishedJob {
  kind: string;
  jobId: string;
  /** An uploaded file's public URL, which is not asked for. */
  url?: string;
  /** How many files it gave. */
  files: number;
}

/** What is to be in the media library: a file of this machine, or one that the service fetches by itself. */
export type UploadOrder = { fileName?: string; contentType?: string } & (
  | { path: string; sha256: string; bytes: number }
  | { url: string }
);

export interface WatchOptions {
  signal: AbortSignal;
  /** Just created: the service may not know it everywhere yet. */
  fresh: boolean;
  onStatus(status: string): void;
  notice(message: string): void;
  /** Stop watching this job after so long, in ms, where that is sooner than for all jobs. */
  patienceMs?: number | undefined;
  /** How much hangs on seeing its end, above 0; less than 1 where nobody waits for it. Default: 1. */
  urgency?: () => number;
}

export interface Service {
  /** Whether a lost answer of this kind can be recovered by sending the same key again. */
  replays(kind: string): boolean;
  /**
   * How far the service's clock is ahead of this one, in ms; 0 where it does not say. May ask the service, for nothing;
   * `unreachable`: it does not answer, so nothing that is paid for should be sent to it. `fresh`: by an answer from now on.
   */
  clockAheadMs(options?: { fresh?: boolean }): Promise<number | { unreachable: string }>;
  /** One POST, never repeated inside. `body` is canonical JSON. */
  create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer>;
  /** Resolves when the job has ended, or is no longer watched. */
  watch(job: { kind: string; jobId: string; model?: string }, options: WatchOptions): Promise<JobEnd>;
  /** The newest job of a kind's list; empty: there is none. Throws `ServiceError`. */
  newestJob(kind: string): Promise<string>;
  /** The kind's list from the newest job down to all of the fences. Throws `ServiceError`. */
  walkJobs(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>>;
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
  /** Costs nothing, and may be repeated. */
  upload(order: UploadOrder, signal: AbortSignal): Promise<UploadAnswer>;
}

export interface Outputs {
  /** Streams into a temporary file, checks it, and gives it its name. Throws `OutputError`. */
  save(target: OutputTarget, download: Download): Promise<Output>;
  /**
   * Puts a file that is already here (same bytes) under the target's name; undefined when it is gone or changed.
   * `remove`: its old name goes, because no step uses it any more. Without it both names stay, as two files.
   */
  relocate(target: OutputTarget, from: Output, options?: { remove?: boolean }): Promise<Output | undefined>;
  /** What a saved file is like; undefined when it cannot be read. */
  measure(output: Output): Promise<MediaFacts | undefined>;
}
