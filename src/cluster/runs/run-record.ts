import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import type { ExitCode } from '../../contract/exit.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import type { Json } from '../../ground/json.ts';
import type { Plan, PlanTotals, StepOrder } from '../../plan/plan.ts';
import type { WrittenPrices } from '../../plan/prices/prices.ts';
import type { Seal } from '../seal.ts';

/** How a run goes about its work; plain JSON. Times in ms. */
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

/** Facts of a plan for events and settling; its orders stand apart because they are large. */
export interface RunHeader {
  /** Its rows have no orders. */
  plan: Plan;
  /** How many of them stand apart. */
  orders: number;
  outline: Omit<GraphOutline, 'addresses'> & { addresses: readonly string[] };
  /** Paths of creates in the service's OpenAPI document. */
  createRoutes: Json;
  prices: WrittenPrices;
  /** Source of the plan: a digest of the campaign's steps, and what was typed. */
  given: { steps: string; options: { readonly [flag: string]: Json } };
}

export interface RunOrigin {
  host: string;
  user: string;
  manifest: string;
  version: string;
  cancelledBy?: string;
  /** User who paused it, while it is paused. */
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
  /** Destination of its files; `null`: the folder of the attached client. */
  store: string | null;
  /** Identity of the database when this record was last known to be whole; `null`: it is in doubt. */
  server: string | null;
  cancelled: Date | null;
  paused: Date | null;
  submitted: Date;
  ended: Date | null;
  result: RunResultRecord | null;
  /** Why the leader set it aside, or who gave up an ended run; otherwise `null`. */
  error: string | null;
}

/** Everything that a leader needs to run a plan. */
export interface Submission {
  /** Made by the submitter: a submit whose answer was lost is not made twice. */
  id: string;
  account: string;
  campaign: string;
  settings: ClusterSettings;
  totals: PlanTotals;
  header: RunHeader;
  /** Encrypted with the account's key, so that others can neither read nor change the purchases. */
  seal: Seal;
  origin: RunOrigin;
  store: string | null;
  orders: Iterable<StepOrder>;
  /** Lines of the lock, each with its LF. */
  lines: Iterable<string>;
}
