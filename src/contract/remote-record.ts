/** A record of the service that a step's job stands in. */
export interface RemoteRecord {
  kind: string;
  address: string;
  jobId: string;
  recordId?: string;
  /** What was paid for it; absent where nobody knows. */
  credits?: number;
  /** ISO 8601, where the service lists it. */
  createdAt?: string;
  /** What there is here of what it gave. `none`: it never gave any. */
  files: 'intact' | 'missing' | 'none';
  /** No step of the manifest uses it. */
  isOrphan: boolean;
}

/** What became of a record that was to be removed. `gone`: it was not there any more. */
export type Removal = { record: RemoteRecord } & (
  | { result: 'removed' | 'gone' | 'left' }
  | { result: 'failed'; error: string }
);
