import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import type { ExitCode } from '../../contract/exit.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import type { Json } from '../../ground/json.ts';
import type { Plan, PlanTotals, StepOrder } from '../../plan/plan.ts';
import type { WrittenPrices } from '../../plan/prices/prices.ts';
import type { Seal } from '../seal.ts';

export interface ClusterSettings {
  concurrency: number;
  onError: 'wait' | 'continue' | 'finish';
  onUnknown: 'ask' | 'hold';
  creditWaitMs: number;
  createTimeoutMs: number;
  requestTimeoutMs: number;
  patienceMs?: number;
  pollIntervalMs?: number;
}

/** Facts of a plan for events and settling. Orders are stored separately, because they are large. */
export interface RunHeader {
  /** Without the orders of its rows. */
  plan: Plan;
  orders: number;
  outline: Omit<GraphOutline, 'addresses'> & { addresses: readonly string[] };
  /** Paths of create requests in the service's OpenAPI document. */
  createRoutes: Json;
  prices: WrittenPrices;
}

export interface RunOrigin {
  host: string;
  user: string;
  manifest: string;
  version: string;
  cancelledBy?: string;
  /** User who paused the run, while it is paused. */
  pausedBy?: string;
}

export interface RunResultRecord {
  exit: ExitCode;
  outcomes: { readonly [step: string]: StepOutcome };
  end?: Extract<RunEvent, { event: 'run-ended' }>;
}

export interface RunRecord {
  id: string;
  account: string;
  protocol: number;
  campaign: string;
  state: 'open' | 'ended';
  settings: ClusterSettings;
  totals: PlanTotals;
  origin: RunOrigin;
  /** Store for the files; `null` for the folder of the attached client. */
  store: string | null;
  /** Identity of the database in which this record was last known to be complete; `null` if that is uncertain. */
  server: string | null;
  cancelled: Date | null;
  paused: Date | null;
  submitted: Date;
  ended: Date | null;
  result: RunResultRecord | null;
  /** Why the leader put an open run aside, or who gave an ended run up; otherwise `null`. */
  error: string | null;
}

export interface Submission {
  /** Id made by the submitter, so that repeating a submit whose answer was lost does not create a second run. */
  id: string;
  account: string;
  campaign: string;
  settings: ClusterSettings;
  totals: PlanTotals;
  header: RunHeader;
  /** Encrypts with a key derived from the account's API key: others can neither read nor change the purchases. */
  seal: Seal;
  origin: RunOrigin;
  store: string | null;
  orders: Iterable<StepOrder>;
  /** Lines of the lock, each with its LF. */
  lines: Iterable<string>;
}
