export interface Leftover {
  /** Path relative to the output folder, or for `kept` to the folder of retained files. Uses `/`. */
  path: string;
  bytes: number;
  /** `output`: file of an earlier job. `partial`: part of a download. `kept`: file that a newer output replaced. */
  is: 'output' | 'partial' | 'kept';
  credits?: number;
  jobId?: string;
  /** For `kept`: path before the replacement, relative to the output folder. */
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

export type Removal = { record: RemoteRecord } & (
  | { result: 'removed' | 'gone' | 'left' }
  | { result: 'failed'; error: string }
);
