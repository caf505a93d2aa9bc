import type { Json } from '../ground/json.ts';
import type { Output } from '../lock/record.ts';
import type { ListedRecord } from '../plan/purchases/match-listed.ts';

export interface CreatedJob {
  jobId: string;
  /** `null`: the answer did not say. */
  credits: number | null;
  /** True when a list says it, and not the answer to the create. */
  isListed?: true;
  balance: number | null;
  /** ID of the record that holds the job, if it differs from the job's. */
  recordId?: string;
}

/** Result of a finished job. */
export interface JobResult {
  /** Values that other steps may refer to, by output field: `url`, `thumbnailUrl`, `clips.0.url`, … */
  values: { readonly [field: string]: string };
  /** Links to the files, in order. Empty only for a list of parts that has none. */
  files: readonly string[];
  /** Number of parts in the output, for kinds whose output is a list. */
  parts?: number;
}

/**
 * Result of a create call. Only `accepted`, `refused` and `no-route` are certain. `mayBe`: an ID that a refusal gives,
 * and that no status confirms as a job's.
 */
export type CreateAnswer =
  /** `doubt`: the words of a refusal that names the job all the same. */
  | { is: 'accepted'; job: CreatedJob; model?: string; doubt?: string }
  /** The service's own error answer: nothing was charged. */
  | { is: 'refused'; status: number; why: 'invalid' | 'auth' | 'credits' | 'user'; message: string; mayBe?: CreatedJob }
  /** Refused because of its key: something was bought under it, and the answer does not tell which job that is. */
  | { is: 'known'; message: string; mayBe?: CreatedJob }
  /** The service has no such operation: nothing was charged, and no other kind is affected. */
  | { is: 'no-route'; message: string }
  | { is: 'throttled'; afterMs: number | null; message: string }
  /** 409: an earlier attempt with this key is still being handled. */
  | { is: 'in-progress'; message: string }
  /** No byte of the request was written. */
  | { is: 'not-sent'; message: string }
  /** It may have been charged. */
  | { is: 'ambiguous'; message: string };

export type JobEnd =
  | { is: 'completed'; result: JobResult }
  | { is: 'failed'; error: string }
  /** 404 for longer than a new job can need to appear. */
  | { is: 'lost'; error: string }
  /** Watching stopped: signal, patience, credential, or an unreachable host. The job itself goes on. */
  | { is: 'unwatched'; because: 'signal' | 'patience' | 'auth' | 'unreachable'; error: string };

export interface Download {
  /**
   * Rejects when the body ends early or the connection breaks. Holds a connection: read it to its end, or close it with
   * its iterator's `return`, even if iteration never began.
   */
  body: AsyncIterable<Uint8Array>;
  /** Size by Content-Length; absent when the server sent none. */
  bytes?: number;
  type?: string;
}

export type DownloadAnswer =
  | { is: 'open'; download: Download }
  /** Any 4xx that does not pass by itself: query the status for a new link. */
  | { is: 'expired'; message: string }
  /** The address or the answer is not acceptable; a retry does not help. */
  | { is: 'refused'; message: string }
  /** `retryAfterMs`: the host asks for this wait. */
  | { is: 'unreachable'; message: string; retryAfterMs?: number };

/** A file of a finished job, and a link by which it comes. Links expire; job and index are its name. */
export interface JobFile {
  jobId: string;
  /** Number of the file in its job, from 0. */
  index: number;
  url: string;
}

/** Result of one try to bring an output where it belongs. */
export type FetchAnswer =
  | { is: 'saved'; output: Output }
  | Exclude<DownloadAnswer, { is: 'open' }>
  /** The bytes are not what they should be: to be fetched again. */
  | { is: 'bad-bytes'; message: string };

/** Result of bringing a file into the media library. */
export type UploadAnswer =
  | { is: 'uploaded'; assetId: string; url: string }
  /** `changed`: the file is not the one that was planned. `refused`: a retry does not help. */
  | { is: 'failed'; why: 'changed' | 'refused' | 'auth' | 'unreachable' | 'interrupted'; message: string };

/** A job as a list of the service shows it. Texts are the service's own: show them through `safeText`. */
export interface ListedJob {
  kind: string;
  jobId: string;
  /** ID of the record that holds the job, if it differs. */
  recordId?: string;
  status: string;
  /** ISO 8601. */
  createdAt?: string;
  model?: string;
  /** The source it was made from: the prompt, script, title or file. */
  prompt?: string;
  credits?: number;
  error?: string;
  url?: string;
  /** Request fields that the record echoes, by the request's names. */
  echoes: { [field: string]: Json };
}

/** One walk through a kind's list, newest record first. */
export interface ListWalk<Job extends ListedRecord> {
  /** Only records newer than the fence. */
  jobs: readonly Job[];
  /** Other records seen on the way: they show what the list echoes, and answer no send. */
  older: readonly Job[];
  /** True when the fence was met or, if the list had been empty, its end. */
  complete: boolean;
}

export type LookUpVerdict<Job extends ListedRecord> =
  | { do: 'adopt'; job: Job }
  /** Certainly not made: may be sent once more. */
  | { do: 'resend' }
  /** Only a person can decide. `candidates`: the jobs that it may be. */
  | { do: 'hold'; error: string; candidates: Job[] };
