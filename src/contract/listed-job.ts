import type { Json } from '../ground/json.ts';
import type { ListedRecord } from '../plan/match-listed.ts';

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
