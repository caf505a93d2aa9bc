/** A local file that no step owns. */
export interface Leftover {
  /** Path relative to the output folder, or to the folder of kept files, with `/` separators. */
  path: string;
  bytes: number;
  /** `output`: left by an earlier purchase. `partial`: left by an interrupted write. `kept`: replaced by a newer output. */
  is: 'output' | 'partial' | 'kept';
  /** Credits charged for the job that it came from; absent where the lock does not say. */
  credits?: number;
  jobId?: string;
  /** `kept`: its path while it was the output, relative to the output folder. */
  was?: string;
  /** `kept`: when, as ISO 8601 UTC. */
  since?: string;
  /** The step that it was bought for. */
  address?: string;
}

/** A record of the service that holds a step's job. */
export interface RemoteRecord {
  kind: string;
  address: string;
  jobId: string;
  recordId?: string;
  /** Credits paid for it; absent when unknown. */
  credits?: number;
  /** State of its files here. `none`: it never produced any. */
  files: 'intact' | 'missing' | 'none';
  /** No step of the manifest uses it. */
  isOrphan: boolean;
}

/** Result of removing a record. `gone`: it was already gone. */
export type Removal = { record: RemoteRecord } & (
  | { result: 'removed' | 'gone' | 'left' }
  | { result: 'failed'; error: string }
);
