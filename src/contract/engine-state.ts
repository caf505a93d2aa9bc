import type { StepOutcome } from './event.ts';
import type { SpendingLeft } from './spending.ts';

/** State of an engine, shown by the command `workers`. Ages (`…Ms`) are in ms, by the clock of the engine's server. */
export interface EngineState {
  runs: EngineRun[];
  accounts: {
    id: string;
    /** Worker ID of the leader. `null` if the account has no leader. */
    head: string | null;
    beatMs?: number;
    error?: string;
    /** The one of the workers' spending limits that has the fewest credits left. */
    limit?: SpendingLeft;
  }[];
  workers: EngineWorker[];
}

export interface EngineRun {
  id: string;
  account: string;
  campaign: string;
  /** `stopping`: cancelled, but outputs of running jobs are still saved. `paused`: likewise, but can be resumed. */
  state: 'open' | 'paused' | 'stopping' | 'ended';
  host: string;
  manifest: string;
  submittedMs: number;
  endedMs?: number;
  cancelled?: { by: string; ageMs: number };
  paused?: { by: string; ageMs: number };
  exit?: number;
  error?: string;
  /** An open run lacks a worker of its account, a worker with its `version` or `store`, or a leader. */
  lacks?: 'worker' | 'version' | 'store' | 'leader';
  /** `waiting`: not started, or its job is running. `left`: skipped because the run ended or stopped. */
  steps: { done: number; failed: number; waiting: number; left: number; of: number };
  credits?: number;
  files: { wanted: number; saved: number; failed: number };
  store: string | null;
  protocol: number;
}

export interface EngineWorker {
  id: string;
  account: string;
  host: string;
  pid: number;
  protocol: number;
  version: string;
  store: string | null;
  files: number;
  beatMs: number;
  isSilent: boolean;
  isHead: boolean;
}

type StepCounts = { [outcome in StepOutcome]?: number };

export type WorkerEvent =
  /** `store`: as the user typed it; omitted if the worker downloads no files. `files`: number of parallel downloads. */
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
  | { event: 'no-store'; why: string }
  /** `waitMs`: delay before the worker searches for lost creates of the previous leader. */
  | { event: 'leader'; epoch: number; runs: number; waitMs: number }
  | { event: 'leader-left'; why: 'no run is open' | 'handed over' | 'taken over' }
  | { event: 'not-runnable'; why: NotRunnable }
  | { event: 'server-away'; error: string }
  | { event: 'server-back' }
  | { event: 'run-deferred'; campaign: string; run: string; error: string; againAfterMs: number }
  | { event: 'run-started'; campaign: string; run: string; steps: number }
  | { event: 'run-ended'; campaign: string; run: string; exit: number; credits: number; outcomes: StepCounts }
  | { event: 'step-failed'; campaign: string; run: string; address: string; outcome: StepOutcome; error: string }
  | { event: 'store-full'; campaign: string; run: string; error: string }
  | { event: 'failed'; error: string; againAfterMs: number }
  | { event: 'leaving'; because: string; creates: number }
  | { event: 'draining'; because: string }
  | { event: 'ending'; because: string };

/** Why a worker cannot execute a run: account (API key or service), mediabatch version or store differ. */
export type NotRunnable = 'account' | 'protocol' | 'store';

type Place = Pick<EngineRun, 'account' | 'protocol' | 'store'>;

export function whyNot(run: Place, worker: Place): NotRunnable | undefined {
  if (run.account !== worker.account) return 'account';
  if (run.protocol !== worker.protocol) return 'protocol';
  return run.store === null || run.store === worker.store ? undefined : 'store';
}

/** Time in ms after which a missing leader is reported: the duration of a leader's lease. */
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
