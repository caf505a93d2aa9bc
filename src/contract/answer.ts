import type { Json } from '../ground/json.ts';
import type { Output } from '../lock/record.ts';
import type { ListedRecord } from '../plan/purchases/match-listed.ts';

export interface CreatedJob {
  jobId: string;
  credits: number | null;
  /** True if the charge was read from the service's list of jobs, not from the answer to the create request. */
  isListed?: true;
  balance: number | null;
  recordId?: string;
}

export interface JobResult {
  /** Output values that other steps can refer to, by field: `url`, `thumbnailUrl`, `clips.0.url`, … */
  values: { readonly [field: string]: string };
  files: readonly string[];
  /** Number of items in the output, if the kind's output is a list. */
  parts?: number;
}

/** Answer to a create request. Only `accepted`, `refused` and `no-route` are certain. `mayBe`: an unconfirmed job. */
export type CreateAnswer =
  /** `doubt`: the error message, if the answer contained both an error and a job. */
  | { is: 'accepted'; job: CreatedJob; model?: string; doubt?: string }
  /** The service answered with an error in its own format. Nothing was charged. */
  | { is: 'refused'; status: number; why: 'invalid' | 'auth' | 'credits' | 'user'; message: string; mayBe?: CreatedJob }
  /** An earlier request with this idempotency key created a job, but the answer does not identify the job. */
  | { is: 'known'; message: string; mayBe?: CreatedJob }
  /** The service does not have the operation of this create request. Nothing was charged. */
  | { is: 'no-route'; message: string }
  | { is: 'throttled'; afterMs: number | null; message: string }
  | { is: 'in-progress'; message: string }
  | { is: 'not-sent'; message: string }
  /** The answer to the create request was lost, so the request may have been charged. */
  | { is: 'ambiguous'; message: string };

export type JobEnd =
  | { is: 'completed'; result: JobResult }
  | { is: 'failed'; error: string }
  /** The service answered 404 for the job, even after the time in which a new job becomes visible. */
  | { is: 'lost'; error: string }
  /** Polling stopped, but the job may still be running at the service. */
  | { is: 'unwatched'; because: 'signal' | 'patience' | 'auth' | 'unreachable'; error: string };

export interface Download {
  /** Rejects if the connection breaks. Callers must read the body to its end or call `return` on its iterator. */
  body: AsyncIterable<Uint8Array>;
  bytes?: number;
  type?: string;
}

export type DownloadAnswer =
  | { is: 'open'; download: Download }
  /** The download link returned a permanent 4xx error. A new query of the job may return a new link. */
  | { is: 'expired'; message: string }
  /** mediabatch does not allow the download URL or the response. A retry would fail again. */
  | { is: 'refused'; message: string }
  | { is: 'unreachable'; message: string; retryAfterMs?: number };

export type FetchAnswer =
  | { is: 'saved'; output: Output }
  | Exclude<DownloadAnswer, { is: 'open' }>
  | { is: 'bad-bytes'; message: string };

export type UploadAnswer =
  | { is: 'uploaded'; assetId: string; url: string }
  /** `changed`: the local file no longer matches the plan. `refused`: a retry would fail again. */
  | { is: 'failed'; why: 'changed' | 'refused' | 'auth' | 'unreachable' | 'interrupted'; message: string };

/**
 * A job from the service's list of jobs. The texts of a job may contain control characters, so views must escape them.
 */
export interface ListedJob {
  kind: string;
  jobId: string;
  recordId?: string;
  status: string;
  createdAt?: string;
  model?: string;
  prompt?: string;
  credits?: number;
  error?: string;
  url?: string;
  echoes: { [field: string]: Json };
}

export interface ListWalk<Job extends ListedRecord> {
  /** Jobs newer than the fence. The fence is the job that was the newest in the list before the create request. */
  jobs: readonly Job[];
  /** Jobs older than the fence. Older jobs show which fields the list returns. */
  older: readonly Job[];
  /** True if the fence was reached, or the end of the list if the list was empty before the create request. */
  complete: boolean;
}

export type LookUpVerdict<Job extends ListedRecord> =
  | { do: 'adopt'; job: Job }
  | { do: 'resend' }
  | { do: 'hold'; error: string; candidates: Job[] };
