export interface CreatedJob {
  jobId: string;
  /** `null`: the answer did not say. */
  credits: number | null;
  balance: number | null;
  /** Id of the record that the job stands in, where that is another one than the job's. */
  recordId?: string;
}

/** What a finished job gives. */
export interface JobResult {
  /** What other steps may refer to: `url`, `thumbnailUrl`, `clips.0.url`, … by output field. */
  values: { readonly [field: string]: string };
  /** Links to the files, in their order. Empty only for a list of parts that has none. */
  files: readonly string[];
  /** How many parts the output has, for kinds whose output is a list. */
  parts?: number;
}

/** What a create call came to. Only `accepted`, `refused` and `no-route` are certain. */
export type CreateAnswer =
  | { is: 'accepted'; job: CreatedJob; model?: string }
  /** The service's own error answer: nothing was charged. */
  | { is: 'refused'; status: number; why: 'invalid' | 'auth' | 'credits' | 'user'; message: string }
  /** The service has no such operation: nothing was charged, and no other kind has to do with it. */
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
  /** 404 for longer than a fresh job can need. */
  | { is: 'lost'; error: string }
  /** Watching stopped: signal, patience, credential, or the host cannot be reached. The job goes on. */
  | { is: 'unwatched'; because: 'signal' | 'patience' | 'auth' | 'unreachable'; error: string };

export interface Download {
  /**
   * Rejects when the body ends early or the connection breaks. It holds a connection: to be read to its end, or closed by its
   * iterator's `return`, even when it was never begun.
   */
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

/** What became of bringing a file into the media library. */
export type UploadAnswer =
  | { is: 'uploaded'; assetId: string; url: string }
  /** `changed`: the file is not the one that was planned. `refused`: asking again does not help. */
  | { is: 'failed'; why: 'changed' | 'refused' | 'auth' | 'unreachable' | 'interrupted'; message: string };
