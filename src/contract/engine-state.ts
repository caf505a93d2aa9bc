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
  /**
   * `stopping`: cancelled, and running jobs are being collected. `paused`: likewise, but the run continues when it is
   * resumed.
   */
  state: 'open' | 'paused' | 'stopping' | 'ended';
  host: string;
  manifest: string;
  submittedMs: number;
  endedMs?: number;
  cancelled?: { by: string; ageMs: number };
  paused?: { by: string; ageMs: number };
  exit?: number;
  /** Why the account's leader has postponed the run; it retries by itself. */
  error?: string;
  /**
   * Missing prerequisite of an open run: a live worker of its account, of its version or with its store, or a leader.
   * Omitted while a worker carries the run out, or takes it over within moments.
   */
  lacks?: 'worker' | 'version' | 'store' | 'leader';
  /** `waiting`: not begun, or its job is still running. `left`: the run ended or stopped before the step began. */
  steps: { done: number; failed: number; waiting: number; left: number; of: number };
  credits?: number;
  files: { wanted: number; saved: number; failed: number };
  store: string | null;
  protocol: number;
}

export interface EngineAccount {
  id: string;
  /** Id of the account's leader. `null` if there is none, or its lease has expired. */
  head: string | null;
  beatMs?: number;
  error?: string;
  /** Among the spending limits of the account's workers, the one with the fewest credits left. */
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
  /** Files downloaded at once; 0: none. */
  files: number;
  beatMs: number;
  /** True if the worker has not reported for longer than a live worker would. */
  isSilent: boolean;
  isHead: boolean;
}

type StepCounts = { [outcome in StepOutcome]?: number };

export type WorkerEvent =
  /**
   * `store`: destination of files, as the user wrote it; omitted if the worker downloads none. `files`: how many at
   * once.
   */
  | {
      event: 'started';
      worker: string;
      account: string;
      service: string;
      server: string;
      store?: string;
      files: number;
    }
  | { event: 'listening'; port: number }
  /** The worker's store does not exist yet; the worker starts as soon as it does. */
  | { event: 'no-store'; why: string }
  /**
   * The worker now leads the account. `waitMs`: delay before it looks up or resends create requests of the previous
   * leader; 0: none.
   */
  | { event: 'leader'; epoch: number; runs: number; waitMs: number }
  /** The worker no longer leads the account. `handed over`: it was asked to end. */
  | { event: 'leader-left'; why: 'no run is open' | 'handed over' | 'taken over' }
  | { event: 'not-runnable'; why: NotRunnable }
  | { event: 'server-away'; error: string }
  | { event: 'server-back' }
  /** The leader cannot carry out this run now, and continues with the others. */
  | { event: 'run-deferred'; campaign: string; run: string; error: string; againAfterMs: number }
  | { event: 'run-started'; campaign: string; run: string; steps: number }
  | { event: 'run-ended'; campaign: string; run: string; exit: number; credits: number; outcomes: StepCounts }
  | { event: 'step-failed'; campaign: string; run: string; address: string; outcome: StepOutcome; error: string }
  /** The leader or a download worker cannot write files: nothing more is bought for the run. */
  | { event: 'store-full'; campaign: string; run: string; error: string }
  | { event: 'failed'; error: string; againAfterMs: number }
  /** The worker was asked to end, and waits for the answers to create requests in flight. */
  | { event: 'leaving'; because: string; creates: number }
  /** The worker was asked to end as soon as no run of the account is open. */
  | { event: 'draining'; because: string }
  /** The worker ends because of a signal, or because nothing is left to do. */
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

/** Time in ms without a leader after which that is reported: one lease, after which the next worker leads. */
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
