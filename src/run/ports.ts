import type { OutputTarget } from '../disk/output-target.ts';
import type { Output, PurchaseState } from '../lock/record.ts';
import type { MediaFacts } from '../plan/expectation.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { CreateAnswer, CreatedJob, Download, DownloadAnswer, JobEnd, UploadAnswer } from '../service/answer.ts';
import type { ListedJob } from '../service/read-listed.ts';
import type { RunFact, StopReason } from './event.ts';
import type { ListWalk, LookUpVerdict } from './look-up.ts';

/** All that carrying out a step needs of the world. */
export interface Ports {
  ledger: Ledger;
  lost: LostCreates;
  service: Service;
  outputs: Outputs;
  clock: Clock;
  emit(fact: RunFact): void;
  /** Aborted: start no paid act any more, stop watching; what is on the wire is awaited. */
  signal: AbortSignal;
}

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). Only for jitter. */
  random(): number;
}

export type Begin =
  /**
   * The price is held (`reserved` null: not known yet). `intent`: a create with this key may already have been sent, with these bytes if they are still
   * known; `job`: it was answered, nothing is to be created.
   */
  | {
      do: 'go';
      reserved: number | null;
      intent?: { since: string; body?: string; fence?: string; resent?: true };
      job?: { jobId: string; credits: number | null };
    }
  /** This step is not bought in this run. */
  | { do: 'stop'; because: StopReason };

export type StepResult =
  | { state: Extract<PurchaseState, 'done'>; outputs: Output[]; jobId: string; url?: string }
  | { state: Extract<PurchaseState, 'failed' | 'lost'>; error: string; jobId: string }
  /** Nothing was charged, for certain. */
  | { state: Extract<PurchaseState, 'refused'>; error: string };

/**
 * The truth about money: budget, intents, job ids. Its local form is the lock file.
 * Every promise resolves only when the fact is durable. A rejection ends all spending.
 */
export interface Ledger {
  /** Reserves the step's price; waits while the price is being found out by another step. Idempotent per step. */
  begin(order: StepOrder): Promise<Begin>;
  /**
   * Durable before the request leaves. `replays` false: should the answer be lost, only a person can decide.
   * `body` is kept beside the ledger until the job id is known when the same bytes could not be made again. `fence`, `resent`:
   * as in `Purchase`.
   */
  intent(order: StepOrder, request: IntendedRequest): Promise<void>;
  /** Durable before the first poll. Settles the reservation. */
  created(order: StepOrder, job: CreatedJob): Promise<void>;
  finish(order: StepOrder, result: StepResult): Promise<void>;
  /** Gives back a reservation: nothing has been sent. */
  release(order: StepOrder): void;
  /** This run will not find out whether it was charged: the reservation is kept, and nobody waits for it. */
  doubt(order: StepOrder): void;
  /** The key under which this job id is on record already, if it is. */
  keyOfJob(jobId: string): Promise<string | undefined>;
  /** No create begins after this. */
  stopSpending(because: StopReason, detail: string): void;
  /** A create was refused because the account is empty. `again`: the same purchase may be tried again in this run. */
  outOfCredits(order: StepOrder, error: string): 'again' | 'stop';
  /** The purchase that follows a definite refusal: another attempt, with a key of its own. */
  nextAttempt(order: StepOrder): StepOrder;
  /**
   * Resolves when the next create of this account may leave. `stop`: no create that can still be left out is sent any
   * more. `maybeSent`: this one cannot; it only finds out what became of an earlier request.
   */
  pace(order: StepOrder, options: { signal: AbortSignal; maybeSent: boolean }): Promise<'go' | 'stop'>;
  /** Just before a create leaves for which `pace` said `go`: false when it would have to wait, or be left out, by now. */
  leaves(order: StepOrder, options: { maybeSent: boolean }): boolean;
  /** A 429: nobody creates for so long. */
  penalize(ms: number): void;
  /** The finished job of a step for exactly this request, to ask for its output's links. */
  jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined>;
}

export interface IntendedRequest {
  body: string;
  replays: boolean;
  fence?: string;
  resent?: true;
}

/** Finds creates again whose answers were lost, by the service's list of jobs: for kinds whose keys are not replayed. */
export interface LostCreates {
  /** Resolves when a create of this kind may leave. What is given back is called once its answer is known and recorded. */
  admit(kind: string): Promise<() => void>;
  /** The newest job of the kind's list; undefined when it could not be read. */
  fence(kind: string): Promise<string | undefined>;
  /** `sentAt`: when the request left, milliseconds since 1970. Called before what `admit` gave is. */
  lookUp(order: StepOrder, lost: { sentAt: number; fence: string; resent: boolean }): Promise<LookUp>;
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

export interface Service {
  /** Whether a lost answer of this kind can be recovered by sending the same key again. */
  replays(kind: string): boolean;
  /** One POST, never repeated inside. `body` is canonical JSON. */
  create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer>;
  /** Resolves when the job has ended, or is no longer watched. */
  watch(
    job: { kind: string; jobId: string; model?: string },
    options: {
      signal: AbortSignal;
      /** How much hangs on it: 1 for itself, more when steps or slots wait for it. */
      urgency?: () => number;
      /** Just created: the service may not know it everywhere yet. */
      fresh: boolean;
      /** Stop watching this job after so long, in ms. */
      patienceMs?: number;
      onStatus(status: string): void;
      notice(message: string): void;
    },
  ): Promise<JobEnd>;
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
