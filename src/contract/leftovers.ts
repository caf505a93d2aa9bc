/** A local file that belongs to no step. */
export interface Leftover {
  /** Path relative to the output folder, or to the folder of kept files, with `/` separators. */
  path: string;
  bytes: number;
  /** `output`: of an earlier purchase. `partial`: of an interrupted write. `kept`: replaced by a newer output. */
  is: 'output' | 'partial' | 'kept';
  /** Credits charged for the job of the file; omitted if the lock does not contain it. */
  credits?: number;
  jobId?: string;
  /** For `kept`: former path, relative to the output folder. */
  was?: string;
  /** For `kept`: time of the replacement, in ISO 8601 UTC. */
  since?: string;
  address?: string;
}

export interface RemoteRecord {
  kind: string;
  address: string;
  jobId: string;
  recordId?: string;
  credits?: number;
  files: 'intact' | 'missing' | 'none';
  isOrphan: boolean;
}

/** `gone`: the record was already removed. */
export type Removal = { record: RemoteRecord } & (
  | { result: 'removed' | 'gone' | 'left' }
  | { result: 'failed'; error: string }
);
