import type { RunEvent, StepOutcome } from '../contract/event.ts';
import type { ExitCode } from '../contract/exit.ts';
import type { SpendingLeft } from '../contract/spending.ts';
import type { Guard } from '../disk/lock/guard.ts';
import type { GraphOutline } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import type { Agreement } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';
import type { WrittenPrices } from '../plan/prices/prices.ts';
import type { RunTimes } from '../report/run/remaining-time.ts';
import type { LiveRun, LiveRunOptions } from './live-run.ts';
import type { MakePlanOptions } from './make-plan.ts';
import type { RehearsalOptions, RunSettings } from './option-table.ts';
import type { LoadedLock } from './read-lock.ts';
import type { SavedPlan } from './saved-plan.ts';
import type { ServiceFacts } from './service-facts.ts';
import type { HoldTerms } from './session.ts';

export interface Ending {
  /** After an abort, the run sends no create request. Requests in flight are awaited and recorded. */
  signal?: AbortSignal | undefined;
  /** When this promise resolves, the run ends at once. The lock records create requests in flight as sent. */
  leave?: Promise<void> | undefined;
  /** `first` resolves at the first unhandled error, which is in `seen`. The run stops and throws the error. */
  stray?: { first: Promise<void>; seen?: { error: unknown } } | undefined;
}

export interface RunResult {
  /** Exit code of the command. See `mediabatch help exit`. */
  exit: ExitCode;
  /** Outcome of each step by address. Empty if the client left the run before its end. */
  outcomes: ReadonlyMap<string, StepOutcome>;
  /** Credits, balance and counts. Omitted if the client left the run before its end. */
  end?: Extract<RunEvent, { event: 'run-ended' }>;
}

export interface ApplyTerms
  extends Omit<MakePlanOptions, 'isRun' | 'limitThere'>,
    RunSettings,
    Pick<HoldTerms, 'lockTimeoutMs' | 'askAboutMove'> {
  rehearsal?: RehearsalOptions | undefined;
  saved?: SavedPlan | undefined;
  isAskedAgain?: true | undefined;
  /** Earlier approval. If omitted, the saved plan's approval or the user's answer in this run counts. */
  agreement?: Agreement | undefined;
  review?: boolean | undefined;
  /** Digest of the plan's inputs except files. Omitted if no later run compares this digest. */
  given?: string | undefined;
  engine?: EngineChoice | undefined;
}

export interface EngineChoice {
  url: string;
  /** `--store` as the user typed it. If omitted, this client downloads the files of the run. */
  store?: string | undefined;
}

export interface LockedPlan {
  made: Plan;
  outline: GraphOutline;
  prices: WrittenPrices;
  loaded: LoadedLock;
  facts: ServiceFacts;
  misspelt: string | undefined;
  guard: Pick<Guard, 'isStillHeld'>;
  finding: Json | undefined;
  index?: string;
  live?: Omit<LiveRunOptions, 'agreed'>;
}

export interface Watching extends Ending {
  on(event: RunEvent): void;
}

export interface Observer extends Watching {
  times?: RunTimes | undefined;
  approved?: { by: string; at: string } | undefined;
}

export interface Executor {
  limitThere?: SpendingLeft | undefined;
  /** Returns the campaign's open run, or an ended run that the local lock does not contain yet. */
  attach(): Promise<Running | undefined>;
  /** Prepares an approved plan while the campaign is locked. Returns a `result` if the plan has no work. */
  start(plan: Plan, held: LockedPlan): Promise<Running | { result: RunResult }>;
}

export interface Running {
  plan: Plan;
  isWork: boolean;
  engineRun?: string;
  filesStay?: boolean;
  judge?: LiveRun | undefined;
  /** Must be called once. Resolves after the lock is saved, or when the client detaches from the run. */
  watch(observer: Watching): Promise<RunResult>;
}
