import type { Json } from '../ground/json.ts';
import type { ListedRecord } from '../plan/match-listed.ts';

/** One job as a list of the service shows it. Texts are the service's own: show them through `safeText`. */
export interface ListedJob {
  kind: string;
  jobId: string;
  /** Id of the record that the job stands in, where that is another one. */
  recordId?: string;
  status: string;
  /** ISO 8601. */
  createdAt?: string;
  model?: string;
  /** What it was made from: the prompt, script, title or source. */
  prompt?: string;
  credits?: number;
  error?: string;
  url?: string;
  /** What the record gives back of the request, by the names of the request's fields. */
  echoes: { [field: string]: Json };
}

/** One walk through a kind's list, from the newest record down. */
export interface ListWalk<Job extends ListedRecord> {
  /** Only records that are newer than the fence. */
  jobs: readonly Job[];
  /** Others that were seen on the way: they show what the list gives back, and are nobody's answer. */
  older: readonly Job[];
  /** The fence was met or, where the list had been empty, its end. */
  complete: boolean;
}

export type LookUpVerdict<Job extends ListedRecord> =
  | { do: 'adopt'; job: Job }
  /** Certainly not made: it may be sent once more. */
  | { do: 'resend' }
  /** Only a person can tell. `candidates` are the jobs that it may be. */
  | { do: 'hold'; error: string; candidates: Job[] };
