import type { Json } from '../ground/json.ts';
import type { Output } from '../lock/record.ts';
import type { ListedRecord } from '../plan/purchases/match-listed.ts';

export interface CreatedJob {
  jobId: string;
  credits: number | null;
  /** True if the charge comes from a list instead of the answer to the create request. */
  isListed?: true;
  balance: number | null;
  /** ID of the record that contains the job, if it differs from the job's ID. */
  recordId?: string;
}

export interface JobResult {
  /** Values by output field, for references: `url`, `thumbnailUrl`, `clips.0.url`, … */
  values: { readonly [field: string]: string };
  files: readonly string[];
  /** Number of parts in the output, for kinds whose output is a list. */
  parts?: number;
}

/** Only `accepted`, `refused` and `no-route` are certain. `mayBe`: unconfirmed job id from the refusal. */
export type CreateAnswer =
  /** `doubt`: the service's message, if it refused the request but named its job. */
  | { is: 'accepted'; job: CreatedJob; model?: string; doubt?: string }
  /** The service refused with its own error body: nothing was charged. */
  | { is: 'refused'; status: number; why: 'invalid' | 'auth' | 'credits' | 'user'; message: string; mayBe?: CreatedJob }
  /** A job was bought under the idempotency key, but the answer does not identify the job. */
  | { is: 'known'; message: string; mayBe?: CreatedJob }
  /** The service has no such operation, and charged nothing. */
  | { is: 'no-route'; message: string }
  | { is: 'throttled'; afterMs: number | null; message: string }
  /** 409: the service is still handling an earlier request with this idempotency key. */
  | { is: 'in-progress'; message: string }
  /** No byte of the request was written. */
  | { is: 'not-sent'; message: string }
  /** The request may have been charged. */
  | { is: 'ambiguous'; message: string };

export type JobEnd =
  | { is: 'completed'; result: JobResult }
  | { is: 'failed'; error: string }
  /** The service answers 404 for longer than a new job may need to appear. */
  | { is: 'lost'; error: string }
  /** Watching ended. The job itself continues. */
  | { is: 'unwatched'; because: 'signal' | 'patience' | 'auth' | 'unreachable'; error: string };

export interface Download {
  /**
   * Rejects if the body ends early or the connection breaks. The consumer reads it to its end, or calls the iterator's
   * `return`, even if iteration never began.
   */
  body: AsyncIterable<Uint8Array>;
  /** Size from Content-Length; `undefined` if the server sent none. */
  bytes?: number;
  type?: string;
}

export type DownloadAnswer =
  | { is: 'open'; download: Download }
  /** A permanent 4xx. The job's status may contain a new link. */
  | { is: 'expired'; message: string }
  /** The address or the answer is not acceptable. Permanent. */
  | { is: 'refused'; message: string }
  /** `retryAfterMs`: wait that the host requests. */
  | { is: 'unreachable'; message: string; retryAfterMs?: number };

/** A file of a finished job, with its current download link. */
export interface JobFile {
  jobId: string;
  /** Counted from 0. */
  index: number;
  url: string;
}

export type FetchAnswer =
  | { is: 'saved'; output: Output }
  | Exclude<DownloadAnswer, { is: 'open' }>
  | { is: 'bad-bytes'; message: string };

export type UploadAnswer =
  | { is: 'uploaded'; assetId: string; url: string }
  /** `changed`: the file differs from the planned file. `refused`: permanent. */
  | { is: 'failed'; why: 'changed' | 'refused' | 'auth' | 'unreachable' | 'interrupted'; message: string };

/** A job in a list of the service. Its strings are unescaped. */
export interface ListedJob {
  kind: string;
  jobId: string;
  /** ID of the record that contains the job, if it differs. */
  recordId?: string;
  status: string;
  /** Time in ISO 8601. */
  createdAt?: string;
  model?: string;
  /** Prompt, script, title or file. */
  prompt?: string;
  credits?: number;
  error?: string;
  url?: string;
  echoes: { [field: string]: Json };
}

export interface ListWalk<Job extends ListedRecord> {
  /** Records newer than the fence: the newest job of the list before the request was sent. */
  jobs: readonly Job[];
  /** Older records, which show which fields the list returns. */
  older: readonly Job[];
  /** True if the walk reached the fence, or the end of a list that was empty before the create. */
  complete: boolean;
}

export type LookUpVerdict<Job extends ListedRecord> =
  | { do: 'adopt'; job: Job }
  /** No job was made, so the request may be sent again. */
  | { do: 'resend' }
  /** Only a user can decide. `candidates`: jobs that may belong to the request. */
  | { do: 'hold'; error: string; candidates: Job[] };
