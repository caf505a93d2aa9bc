export interface CreatedJob {
  jobId: string;
  /** `null`: the answer did not say. */
  credits: number | null;
  balance: number | null;
}

/** What a create call came to. Only `accepted` and `refused` are certain. */
export type CreateAnswer =
  | { is: 'accepted'; job: CreatedJob; model?: string }
  /** The service's own error answer: nothing was charged. */
  | { is: 'refused'; status: number; why: 'invalid' | 'auth' | 'credits' | 'user'; message: string }
  | { is: 'throttled'; afterMs: number | null; message: string }
  /** 409: an earlier attempt with this key is still being handled. */
  | { is: 'in-progress'; message: string }
  /** No byte of the request was written. */
  | { is: 'not-sent'; message: string }
  /** It may have been charged. */
  | { is: 'ambiguous'; message: string };

export type JobEnd =
  | { is: 'completed'; url: string }
  | { is: 'failed'; error: string }
  /** 404 for longer than a fresh job can need. */
  | { is: 'lost'; error: string }
  /** Watching stopped: signal, patience, credential, or the host cannot be reached. The job goes on. */
  | { is: 'unwatched'; because: 'signal' | 'patience' | 'auth' | 'unreachable'; error: string };

export interface Download {
  /** Rejects with an error when the body ends early. */
  body: AsyncIterable<Uint8Array>;
  /** From Content-Length; absent when the server did not say. */
  bytes?: number;
  type?: string;
}

export type DownloadAnswer =
  | { is: 'open'; download: Download }
  /** 403, 404, 410: ask the status for a fresh link. */
  | { is: 'expired'; message: string }
  /** The address or the answer is not acceptable; asking again does not help. */
  | { is: 'refused'; message: string }
  | { is: 'unreachable'; message: string };
