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

export type WorkerNews =
  /**
   * `store`: destination of files, as the user wrote it; omitted if the worker downloads none. `files`: how many at
   * once.
   */
  | { is: 'started'; worker: string; account: string; service: string; server: string; store?: string; files: number }
  | { is: 'listening'; port: number }
  /** The worker's store does not exist yet; the worker starts as soon as it does. */
  | { is: 'no store'; why: string }
  /**
   * The worker now leads the account. `waitMs`: delay before it looks up or resends create requests of the previous
   * leader; 0: none.
   */
  | { is: 'head'; epoch: number; runs: number; waitMs: number }
  /** The worker no longer leads the account. `handed over`: it was asked to end. */
  | { is: 'head left'; why: 'no run is open' | 'handed over' | 'taken over' }
  | { is: 'not for it'; why: NotForIt }
  | { is: 'server away'; error: string }
  | { is: 'server back' }
  /** The leader cannot carry out this run now, and continues with the others. */
  | { is: 'put aside'; campaign: string; run: string; error: string; againAfterMs: number }
  | { is: 'run started'; campaign: string; run: string; steps: number }
  | { is: 'run ended'; campaign: string; run: string; exit: number; credits: number; outcomes: StepCounts }
  | { is: 'step failed'; campaign: string; run: string; address: string; outcome: StepOutcome; error: string }
  /** The leader or a download worker cannot write files: nothing more is bought for the run. */
  | { is: 'store full'; campaign: string; run: string; error: string }
  | { is: 'failed'; error: string; againAfterMs: number }
  /** The worker was asked to end, and waits for the answers to create requests in flight. */
  | { is: 'leaving'; because: string; creates: number }
  /** The worker was asked to end as soon as no run of the account is open. */
  | { is: 'draining'; because: string }
  /** The worker ends because of a signal, or because nothing is left to do. */
  | { is: 'ending'; because: string };

export function newsName(is: WorkerNews['is']): string {
  return is.replaceAll(' ', '-');
}

/**
 * Why a worker cannot work on a run. `account`: another API key or service. `protocol`: another version of mediabatch
 * submitted it. `store`: its files go to another store, or this worker has none.
 */
export type NotForIt = 'account' | 'protocol' | 'store';

type Place = Pick<EngineRun, 'account' | 'protocol' | 'store'>;

export function whyNot(run: Place, worker: Place): NotForIt | undefined {
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
