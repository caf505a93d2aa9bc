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
  /**
   * Aborted to end the run: nothing more is bought, requests in flight are awaited, everything is recorded. Its
   * reason is reported.
   */
  signal?: AbortSignal | undefined;
  /** Resolves when the run must end at once. Requests in flight stay on record as sent. */
  leave?: Promise<void> | undefined;
  /**
   * `first` resolves at the first unhandled error, which is in `seen` by then. The run ends as with `signal`, and
   * throws the error.
   */
  stray?: { first: Promise<void>; seen?: { error: unknown } } | undefined;
}

export interface RunResult {
  /** The exit code of the command; `help exit` explains the numbers. */
  exit: ExitCode;
  /** How each step ended, by address. Empty if the run did not wait for its end. */
  outcomes: ReadonlyMap<string, StepOutcome>;
  /** Credits, balance and counts. Omitted if the run did not wait for its end. */
  end?: Extract<RunEvent, { event: 'run-ended' }>;
}

export interface ApplyTerms
  extends Omit<MakePlanOptions, 'isRun' | 'limitThere'>,
    RunSettings,
    Pick<HoldTerms, 'lockTimeoutMs' | 'askAboutMove'> {
  rehearsal?: RehearsalOptions | undefined;
  saved?: SavedPlan | undefined;
  isAskedAgain?: true | undefined;
  /** Earlier approval. Defaults to the approval of the saved plan, else to the answer given in this run. */
  agreement?: Agreement | undefined;
  review?: boolean | undefined;
  /** Digest of the plan's inputs other than files. Omitted if it is never compared. */
  given?: string | undefined;
  engine?: EngineChoice | undefined;
}

export interface EngineChoice {
  url: string;
  /** `--store` of the user. Without it, the workers' files come to the attached client. */
  store?: string | undefined;
}

export interface Held {
  made: Plan;
  outline: GraphOutline;
  prices: WrittenPrices;
  loaded: LoadedLock;
  facts: ServiceFacts;
  misspelt: string | undefined;
  guard: Pick<Guard, 'stillOurs'>;
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

export interface Carrier {
  limitThere?: SpendingLeft | undefined;
  /** The open run of this campaign, or a run whose end is not recorded here. Undefined if there is none. */
  attach(): Promise<Running | undefined>;
  /** Prepares an approved plan while the lock is held. `result`: the run has already ended. */
  start(plan: Plan, held: Held): Promise<Running | { result: RunResult }>;
}

export interface Running {
  plan: Plan;
  isWork: boolean;
  engineRun?: string;
  filesStay?: boolean;
  judge?: LiveRun | undefined;
  /** Called once. Resolves when the run has ended and the lock is settled, or when the client has left the run. */
  watch(observer: Watching): Promise<RunResult>;
}
