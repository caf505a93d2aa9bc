import type { StepOutcome } from './event.ts';
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
  /**
   * Missing part of an open run: a living worker of its account, one of its version or with its store, or a leader. Omitted while
   * a worker carries it out, or takes it over within moments.
   */
  lacks?: 'worker' | 'version' | 'store' | 'leader';
  /** `waiting`: not begun, or its job still runs. `left`: the run ended or stopped before it began. */
  steps: { done: number; failed: number; waiting: number; left: number; of: number };
  /** Charged in this run. Omitted when nobody recorded it. */
  credits?: number;
  files: { wanted: number; saved: number; failed: number };
  store: string | null;
  protocol: number;
}

export interface EngineAccount {
  id: string;
  /** Id of the worker that leads it. `null` when there is none, or its lease has run out. */
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
}

/** Outcomes that somebody has to look into. */
export const failedOutcomes: readonly StepOutcome[] = ['failed', 'refused', 'unresolved', 'lost'];

type StepCounts = { [outcome in StepOutcome]?: number };

/** News of a worker about itself while it works for an engine. */
export type WorkerNews =
  /** `store`: destination of files, as the user wrote it; omitted when the worker fetches none. `files`: how many at once. */
  | { is: 'started'; worker: string; account: string; service: string; server: string; store?: string; files: number }
  /** Health and figures are served there. */
  | { is: 'listening'; port: number }
  /** It begins as soon as its store is there. */
  | { is: 'no store'; why: string }
  /** It has the account now. `waitMs`: before it looks up or sends again creates of the last head; 0: nothing to wait for. */
  | { is: 'head'; epoch: number; runs: number; waitMs: number }
  /** It has the account no more: no run is open; it was asked to end; or another worker took it over. */
  | { is: 'head left'; why: 'no run is open' | 'handed over' | 'taken over' }
  /** There are open runs that it takes nothing of. */
  | { is: 'not for it'; why: NotForIt }
  | { is: 'server away'; error: string }
  | { is: 'server back' }
  /** A run that the head cannot drive, while it goes on with the others. */
  | { is: 'put aside'; campaign: string; run: string; error: string; againAfterMs: number }
  /** A leader begins a run, or goes on with it. */
  | { is: 'run started'; campaign: string; run: string; steps: number }
  | { is: 'run ended'; campaign: string; run: string; exit: number; credits: number; outcomes: StepCounts }
  | { is: 'step failed'; campaign: string; run: string; address: string; outcome: StepOutcome; error: string }
  /** The leader or a fetch worker cannot write: nothing more is bought for the run. */
  | { is: 'store full'; campaign: string; run: string; error: string }
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
 * Why a worker takes nothing of a run. `account`: another key or service. `protocol`: another version of mediabatch submitted
 * it. `store`: its files go to another store, or this worker has none.
 */
export type NotForIt = 'account' | 'protocol' | 'store';

type Place = Pick<EngineRun, 'account' | 'protocol' | 'store'>;

/** Why a worker takes nothing of a run; undefined: it does. */
export function whyNot(run: Place, worker: Place): NotForIt | undefined {
  if (run.account !== worker.account) return 'account';
  if (run.protocol !== worker.protocol) return 'protocol';
  return run.store === null || run.store === worker.store ? undefined : 'store';
}

/** Time without a leader after which that is a trouble, in ms: a lease, then the next one leads. */
const leaderlessMs = 10_000;

/** Returns what an open run lacks; undefined: a worker carries it out, or takes it over within moments. */
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
