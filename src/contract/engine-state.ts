import type { SpendingLeft } from './spending.ts';

/** State of an engine, as it is shown. Ages in ms, by the clock of its server. */
export interface EngineState {
  runs: EngineRun[];
  accounts: EngineAccount[];
  workers: EngineWorker[];
}

export interface EngineRun {
  id: string;
  account: string;
  campaign: string;
  /** `stopping`: it was cancelled, and what runs is being collected. `paused`: the same, and it goes on when somebody resumes it. */
  state: 'open' | 'paused' | 'stopping' | 'ended';
  /** Machine that it came from. */
  host: string;
  manifest: string;
  submittedMs: number;
  /** Absent while it is open. */
  endedMs?: number;
  /** Who has cancelled it, and how long ago. */
  cancelled?: { by: string; ageMs: number };
  /** Who has paused it, and how long ago. */
  paused?: { by: string; ageMs: number };
  /** Exit code of an ended one. */
  exit?: number;
  /** Why its head has put it aside; the next attempt is made by itself. */
  error?: string;
  steps: { ended: number; of: number };
  files: { wanted: number; saved: number; failed: number };
  store: string | null;
  protocol: number;
}

export interface EngineAccount {
  id: string;
  /** The id of the worker that is its head; null when there is none. */
  head: string | null;
  beatMs?: number;
  error?: string;
  /** The limit of its workers that leaves least. */
  limit?: SpendingLeft;
}

export interface EngineWorker {
  id: string;
  account: string;
  host: string;
  pid: number;
  protocol: number;
  version: string;
  store: string | null;
  /** Files at once; 0: it fetches none. */
  files: number;
  beatMs: number;
  /** Silent for longer than a living worker is. */
  isSilent: boolean;
  isHead: boolean;
  /** Figures of its work as a head. */
  rates?: { [name: string]: number };
}

/** News of a worker about itself while it works for an engine. */
export type WorkerNews =
  /** `store`: where files go, as a person named it; absent: it fetches none. `files`: how many at once. */
  | { is: 'started'; worker: string; account: string; service: string; server: string; store?: string; files: number }
  /** Health and figures are served there. */
  | { is: 'listening'; port: number }
  /** It begins as soon as its store is there. */
  | { is: 'no store'; why: string }
  /** It has the account now. `waitMs`: before it looks up or sends again creates of the last head; 0: nothing to wait for. */
  | { is: 'head'; epoch: number; runs: number; waitMs: number }
  /** It has the account no more: no run is open; it was asked to end; or another worker took it over. */
  | { is: 'head left'; why: 'no run is open' | 'handed over' | 'taken over' }
  /** Open runs that it takes nothing of, and why; told again when they change. */
  | { is: 'not for it'; why: NotForIt; runs: number }
  | { is: 'server away'; error: string }
  | { is: 'server back' }
  /** A run that the head cannot drive, while it goes on with the others. */
  | { is: 'put aside'; campaign: string; run: string; error: string; againAfterMs: number }
  /** It goes on by itself. */
  | { is: 'failed'; error: string; againAfterMs: number }
  /** It is asked to end, and waits for the answers of creates that are on the wire. */
  | { is: 'leaving'; because: string; creates: number }
  /** It is asked to end as soon as no run of the account is open. */
  | { is: 'draining'; because: string }
  /** It ends by a signal, or because nothing is left to do. */
  | { is: 'ending'; because: string };

/** How news are called in logs and figures. */
export function newsName(is: WorkerNews['is']): string {
  return is.replaceAll(' ', '-');
}

/**
 * `account`: of another key or service. `protocol`: submitted by another version of mediabatch. `store`: their files go to
 * another store, or this worker has none.
 */
export type NotForIt =
  | { is: 'account' }
  | { is: 'protocol'; theirs: number; own: number; version: string }
  | { is: 'store' };

type Place = Pick<EngineRun, 'account' | 'protocol' | 'store'>;

/** Why a worker takes nothing of a run; undefined: it does. */
export function whyNot(run: Place, worker: Place): NotForIt['is'] | undefined {
  if (run.account !== worker.account) return 'account';
  if (run.protocol !== worker.protocol) return 'protocol';
  return run.store === null || run.store === worker.store ? undefined : 'store';
}
