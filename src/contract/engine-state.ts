import type { StepOutcome } from './event.ts';
import type { SpendingLeft } from './spending.ts';

/** State of an engine, as shown to users. Ages are in ms, by the clock of its server. */
export interface EngineState {
  runs: EngineRun[];
  accounts: EngineAccount[];
  workers: EngineWorker[];
}

export interface EngineRun {
  id: string;
  account: string;
  campaign: string;
  /** `stopping`: cancelled, while running jobs are collected. `paused`: as `stopping`, until the run is resumed. */
  state: 'open' | 'paused' | 'stopping' | 'ended';
  host: string;
  manifest: string;
  submittedMs: number;
  endedMs?: number;
  cancelled?: { by: string; ageMs: number };
  paused?: { by: string; ageMs: number };
  exit?: number;
  /** Why the leader deferred the run. */
  error?: string;
  /** Missing part of an open run: a live worker of its account, of its version or with its store, or a leader. */
  lacks?: 'worker' | 'version' | 'store' | 'leader';
  /** `waiting`: not started, or its job is running. `left`: skipped when the run ended or stopped. */
  steps: { done: number; failed: number; waiting: number; left: number; of: number };
  credits?: number;
  files: { wanted: number; saved: number; failed: number };
  store: string | null;
  protocol: number;
}

export interface EngineAccount {
  id: string;
  /** Id of the leader; `null` if there is none, or if its lease has expired. */
  head: string | null;
  beatMs?: number;
  error?: string;
  /** The limit with the fewest credits left, among those of the account's workers. */
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
  /** Number of parallel downloads. */
  files: number;
  beatMs: number;
  /** True if the last heartbeat is older than that of any live worker. */
  isSilent: boolean;
  isHead: boolean;
}

type StepCounts = { [outcome in StepOutcome]?: number };

export type WorkerEvent =
  /** `store`: as the user wrote it; omitted if the worker downloads no files. `files`: number of parallel downloads. */
  | {
      event: 'started';
      worker: string;
      account: string;
      service: string;
      server: string;
      store?: string | undefined;
      files: number;
    }
  | { event: 'listening'; port: number }
  /** The worker starts as soon as its store exists. */
  | { event: 'no-store'; why: string }
  /** The worker leads the account. `waitMs`: delay before it searches for create requests of the previous leader. */
  | { event: 'leader'; epoch: number; runs: number; waitMs: number }
  | { event: 'leader-left'; why: 'no run is open' | 'handed over' | 'taken over' }
  | { event: 'not-runnable'; why: NotRunnable }
  | { event: 'server-away'; error: string }
  | { event: 'server-back' }
  /** The leader cannot execute this run now, and continues with other runs. */
  | { event: 'run-deferred'; campaign: string; run: string; error: string; againAfterMs: number }
  | { event: 'run-started'; campaign: string; run: string; steps: number }
  | { event: 'run-ended'; campaign: string; run: string; exit: number; credits: number; outcomes: StepCounts }
  | { event: 'step-failed'; campaign: string; run: string; address: string; outcome: StepOutcome; error: string }
  /** Files cannot be written, so the leader creates nothing more for the run. */
  | { event: 'store-full'; campaign: string; run: string; error: string }
  | { event: 'failed'; error: string; againAfterMs: number }
  /** The worker waits for the answers to create requests in flight before it ends. */
  | { event: 'leaving'; because: string; creates: number }
  /** The worker ends once no run of the account is open. */
  | { event: 'draining'; because: string }
  | { event: 'ending'; because: string };

/**
 * Why a worker cannot work on a run. `account`: another API key or service. `protocol`: another version of mediabatch
 * submitted it. `store`: its files go to another store, or this worker has none.
 */
export type NotRunnable = 'account' | 'protocol' | 'store';

type Place = Pick<EngineRun, 'account' | 'protocol' | 'store'>;

export function whyNot(run: Place, worker: Place): NotRunnable | undefined {
  if (run.account !== worker.account) return 'account';
  if (run.protocol !== worker.protocol) return 'protocol';
  return run.store === null || run.store === worker.store ? undefined : 'store';
}

/** Time in ms after which a missing leader is reported: one lease. */
const leaderlessMs = 10_000;

export function lackOf(
  run: Place & Pick<EngineRun, 'submittedMs'>,
  { accounts, workers }: Pick<EngineState, 'accounts' | 'workers'>,
): EngineRun['lacks'] {
  const whys = workers.flatMap((worker) => (worker.isSilent ? [] : [whyNot(run, worker)]));
  if (whys.includes(undefined)) {
    const account = accounts.find(({ id }) => id === run.account);
    const sinceMs = Math.min(run.submittedMs, account?.beatMs ?? Number.POSITIVE_INFINITY);
    return (account?.head ?? null) === null && sinceMs > leaderlessMs ? 'leader' : undefined;
  }
  if (whys.includes('store')) return 'store';
  return whys.includes('protocol') ? 'version' : 'worker';
}
