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
  /** `stopping`: it was cancelled, and what runs is being collected. */
  state: 'open' | 'stopping' | 'ended';
  sandbox: boolean;
  /** Machine that it came from. */
  host: string;
  manifest: string;
  submittedMs: number;
  /** Absent while it is open. */
  endedMs?: number;
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
