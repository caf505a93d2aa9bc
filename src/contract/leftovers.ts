/** A local file that belongs to no step. */
export interface Leftover {
  /** Path relative to the output folder, or to the folder of kept files, with `/` separators. */
  path: string;
  bytes: number;
  /** `output`: left by an earlier purchase. `partial`: left by an interrupted write. `kept`: replaced by a newer output. */
  is: 'output' | 'partial' | 'kept';
  /** Credits charged for the job of the file; omitted if the lock does not contain it. */
  credits?: number;
  jobId?: string;
  /** For `kept`: its former path as the output, relative to the output folder. */
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
  /** `none`: the job never had any. */
  files: 'intact' | 'missing' | 'none';
  isOrphan: boolean;
}

/** Result of removing a record. `gone`: it was already gone. */
export type Removal = { record: RemoteRecord } & (
  | { result: 'removed' | 'gone' | 'left' }
  | { result: 'failed'; error: string }
);
