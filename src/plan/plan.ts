import type { OpenRequest } from '../graph/graph.ts';
import type { Output } from '../lock/record.ts';
import type { Expectation } from '../manifest/manifest.ts';
import type { PartCondition } from './parts.ts';

/**
 * What a run does with a step.
 * Spending: `create` (not bought yet), `redo` (its inputs changed), `retry` (its job failed and another purchase is asked for).
 * Free work: `attach` (its job is running), `download` (paid, file missing or damaged), `move` (same request under a new address or path).
 * Nothing: `keep`, `failed` (its job failed; left alone), `blocked`, `orphan` (in the lock, not in the manifest),
 * `unresolved` (a create whose answer was lost and that only a person can decide).
 */
export type Action =
  | 'create'
  | 'redo'
  | 'retry'
  | 'attach'
  | 'download'
  | 'move'
  | 'keep'
  | 'failed'
  | 'blocked'
  | 'orphan'
  | 'unresolved';

/** The actions for which a run sends a create, and pays. */
export type SpendingAction = 'create' | 'redo' | 'retry';

/** What a step's next purchase costs. Requests of one class cost the same. */
export interface Price {
  class: string;
  /** `null`: unknown until the first job of the class has been charged. Never 0 for unknown. */
  credits: number | null;
}

/** Everything that carrying out one step takes. Plain JSON: it may travel to another machine. */
export interface StepOrder {
  campaign: string;
  address: string;
  task: string;
  kind: string;
  action: SpendingAction | 'attach' | 'download' | 'move';
  fingerprint: string;
  generation: number;
  /** Which of the purchase's keys `key` is, from 1. */
  attempt: number;
  /** Which purchase of its fingerprint this is, from 1: what its keys are made from. */
  repeat: number;
  /** How many of its keys, from the first, were refused before. They are tried again in order, because a refusal is free. */
  refused: number;
  key: string;
  take?: number;
  /** References by address. */
  request: OpenRequest;
  /** References by fingerprint: what the lock keeps. */
  paidRequest: OpenRequest;
  /** Output path without extension, relative to the folder of outputs. */
  save: string;
  /** Steps that must be done first. */
  needs: string[];
  price: Readonly<Price>;
  /** An open send: it is asked about before anything is bought. Times are ISO 8601 UTC. */
  send?: { id: string; since: string; fence?: string; resent?: true; digest?: string };
  /** Only finds out what became of `send`. The step has a row of its own, or is gone. */
  asksOnly?: true;
  /** The job is known: nothing is created. */
  jobId?: string;
  credits?: number;
  /** The job of this step (same request) is this step's job too. */
  sharesJobOf?: string;
  /** The files as the lock knows them: what `download` restores and `move` renames. Usually one; none for uploads and posts. */
  outputs?: Output[];
  /** `kind: upload`: the file whose bytes go up, relative to the manifest's folder. */
  file?: { path: string; sha256: string; bytes: number };
  /** Only needed when other steps' outputs turn out to have these parts. */
  parts?: PartCondition[];
  /** Members of lists in the request that may turn out not to exist: then the list is shorter. */
  optional?: { [address: string]: PartCondition[] };
  /** How long its job is watched at most, in ms. */
  timeoutMs?: number;
  /** Purchases that may follow in this run when its job fails. */
  retries?: Retries;
  /** What the downloaded files must be like. */
  expect?: Expectation;
  /** A post that a person has agreed to. Without it none is sent, whoever carries the order out. */
  publish?: true;
  /** `move`: the address under which the lock knew this step, if it is another. */
  movedFrom?: string;
  /** SHA-256 digests of files that this step may replace, because they are its own earlier outputs. */
  replaces: string[];
}

/** What `retry:` allows: so many further purchases, for so many credits together (`null`: no cap of its own). */
export interface Retries {
  left: number;
  credits: number | null;
  /** Of the first of them: what its idempotency key is made from. */
  generation: number;
  repeat: number;
}

export interface PlanRow {
  address: string;
  task: string;
  kind: string;
  action: Action;
  /** One sentence without full stop, for people. */
  reason: string;
  /** What this row spends: a number, or `null` for unknown. 0 for everything that does not spend. */
  credits: number | null;
  /** The id of the open send that this row is about, where the step has another row, or is gone. */
  send?: string;
  /** Credits of paid work that this row gives up (redo). */
  discards?: number;
  jobId?: string;
  /** The path of the first file, as the lock knows it. */
  output?: string;
  /** What buying again after failures may cost on top, by `retry:`; `null`: unknown. */
  mayRetry?: number | null;
  /** It is pinned: what was bought for it is kept. */
  pinned?: true;
  /** It is pinned, and its input changed: what buying it again would cost; `null`: unknown. */
  wouldCost?: number | null;
  /** Its output was declared to satisfy what the manifest asks for now. */
  accepted?: true;
  /** `keep`: what it is about turned out not to exist, so nothing was ever bought. */
  unneeded?: true;
  /** Its request could not be checked: the service documents it neither in words nor by an OpenAPI document that is known here. */
  unchecked?: true;
  /** Where and when it would be published: of a post that is to be sent, or waits for somebody to agree. */
  post?: PostTarget;
  /** `keep`: it was posted, and its input is another one now. What is online stays as it is. */
  changedSince?: true;
  /**
   * `blocked`: the credits do not reach, a step that it needs is not going to be done, or is not selected, or nobody has
   * agreed to publish it or a post that it needs.
   */
  blockedBy?: 'budget' | 'step' | 'selection' | 'consent';
  order?: StepOrder;
}

/** Where a post goes, and when, as far as its request says so. */
export interface PostTarget {
  /** Ids of accounts, as they stand in the request. */
  accounts: string[];
  /** When it is published, as it stands in the request. Absent: at once. */
  at?: string;
  /** It is only sent when another step's output turns out to have the part that it is about. */
  perhaps?: true;
}

export interface PlanTotals {
  /** Sum of the known credits of the rows that spend. */
  toSpend: number;
  /** Rows that spend and whose price is unknown. */
  unknownPrices: number;
  /** Posts that it publishes; absent when there are none. */
  posts?: number;
  /** Charged for the jobs in the lock, each job once. */
  alreadyPaid: number;
  /** Held for creates whose outcome is not known. */
  held: number;
  discarded: number;
  /** What `retry:` may cost on top, as far as prices are known; absent when nothing may be retried. */
  mayRetry?: number;
  /** The manifest's budget over all runs, and what is left of it before this run. */
  budget?: number;
  budgetLeft?: number;
  /**
   * Price classes of creates whose answers were lost, and whose prices a step of this plan finds out, alone; absent when
   * there are none.
   */
  lostPrices?: string[];
  /** `--max-credits`: the cap of this run alone. */
  maxCredits?: number;
  /** The service's balance, where it is known: a plan is made without asking anybody. */
  balance?: number;
}

/** The name of an order among those of a run: a send that is asked about stands beside its step. */
export function orderName({ address, asksOnly, send }: StepOrder): string {
  return asksOnly && send !== undefined ? `${address}\u0000${send.id}` : address;
}

/** For every step an action, a reason and a price. `apply` does what is written here and nothing else. */
export interface Plan {
  mediabatch: 'plan';
  version: 1;
  campaign: string;
  concurrency: number;
  /** In the graph's order; then open sends that no step asks about, and orphans last. */
  rows: PlanRow[];
  totals: PlanTotals;
}
