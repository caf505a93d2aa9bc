/** A record of the service that holds a step's job. */
export interface RemoteRecord {
  kind: string;
  address: string;
  jobId: string;
  recordId?: string;
  /** Credits paid for it; absent when unknown. */
  credits?: number;
  /** ISO 8601; absent when the service does not list it. */
  createdAt?: string;
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
