import type { RunEvent } from '../contract/event.ts';
import type { SpendingLeft } from '../contract/spending.ts';
import type { Guard } from '../disk/lock/guard.ts';
import type { GraphOutline } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import type { Agreement } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';
import type { WrittenPrices } from '../plan/prices/prices.ts';
import type { RunTimes } from '../report/run/run-time.ts';
import type { RehearsalOptions, RunSettings } from './check-options.ts';
import type { LiveRun, LiveRunOptions } from './live-run.ts';
import type { MakePlanOptions } from './make-plan.ts';
import type { RestoredLock } from './restore-purchases.ts';
import type { Ending, RunResult } from './run.ts';
import type { SavedPlan } from './saved-plan.ts';
import type { ServiceFacts } from './service-facts.ts';
import type { HoldTerms } from './session.ts';

export interface ApplyTerms
  extends Omit<MakePlanOptions, 'isRun' | 'limitThere'>,
    RunSettings,
    Pick<HoldTerms, 'lockTimeoutMs' | 'askAboutMove'> {
  rehearsal?: RehearsalOptions | undefined;
  saved?: SavedPlan | undefined;
  /** True when approval is requested again because the earlier approval is not valid. */
  isAskedAgain?: true | undefined;
  /** Earlier approval. Defaults to the approval of the saved plan, else to the answer given in this run. */
  agreement?: Agreement | undefined;
  /** Whether people decide at gates during the run, which then buys what its plan named as following the gates. */
  review?: boolean | undefined;
  /** Digest of the plan's inputs other than files. Omitted if it is never compared. */
  given?: string | undefined;
  /** Engine whose workers carry the plan out. Defaults to this process. */
  engine?: EngineChoice | undefined;
}

export interface EngineChoice {
  url: string;
  /** Destination of the workers' files, as the user wrote it. By default they come to the attached client. */
  store?: string | undefined;
}

export interface Held {
  made: Plan;
  outline: GraphOutline;
  prices: WrittenPrices;
  loaded: RestoredLock;
  facts: ServiceFacts;
  misspelt: string | undefined;
  guard: Pick<Guard, 'stillOurs'>;
  /** Result to store if there was nothing to do. */
  finding: Json | undefined;
  index?: string;
  /** Facts for decisions during the run of this plan. Omitted without a review. */
  live?: Omit<LiveRunOptions, 'agreed'>;
}

/** Client that watches a run and can end it. */
export interface Observer extends Ending {
  on: (event: RunEvent) => void;
  times?: RunTimes | undefined;
  approved?: { by: string; at: string } | undefined;
}

/** Executor of plans: this process, or the workers of an engine. */
export interface Carrier {
  /** Spending limit of the process that carries plans out, when that is not this process. */
  limitThere?: SpendingLeft | undefined;
  /** The open run of this campaign, or a run whose end is not recorded here. Undefined if there is none. */
  attach(): Promise<Running | undefined>;
  /** Prepares an approved plan while the lock is held. `result`: the run has already ended. */
  start(plan: Plan, held: Held): Promise<Running | { result: RunResult }>;
}

export interface Running {
  plan: Plan;
  /** Whether the run does anything that belongs in the history of runs. */
  isWork: boolean;
  engineRun?: string;
  /** Whether the outputs of the run stay in its store and are not downloaded to this machine. */
  filesStay?: boolean;
  /** Accepts decisions while it runs. Omitted when decisions wait for the next run. */
  judge?: LiveRun | undefined;
  /** Called once. Resolves when the run has ended and the lock is settled, or when the client has left the run. */
  watch(observer: Watching): Promise<RunResult>;
}

export type Watching = Pick<Observer, 'on' | 'signal' | 'leave' | 'stray'>;
