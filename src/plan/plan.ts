import type { OpenRequest } from '../graph/graph.ts';
import type { Output } from '../lock/record.ts';
import type { Expectation } from '../manifest/manifest.ts';
import type { Action, LaterPurchase, Row, RowPrice, WrittenPlan } from './plan.generated.ts';
import type { PartCondition } from './situation/parts.ts';

export type { Action, Need, Post as PostTarget, Totals as PlanTotals } from './plan.generated.ts';

/** The actions for which a run sends a create, and pays. */
export type SpendingAction = 'create' | 'redo' | 'retry';

/**
 * The price of a step's next purchase. Requests of one class cost the same. `credits` is what is reserved; `null`:
 * unknown until the first job of the class has been charged, whatever it is expected to cost. Never 0 for unknown.
 */
export type Price = RowPrice;

/** Work that a run carries out for a step. Plain JSON: it may travel to another machine. */
export type StepOrder = Carry | Ask;

/** Fields that both orders need to ask the service for one purchase, and to record it. */
interface Order {
  campaign: string;
  address: string;
  task: string;
  kind: string;
  fingerprint: string;
  generation: number;
  /** Number of `key` among the keys of the purchase, from 1. */
  attempt: number;
  /** Number of this purchase among those of its fingerprint, from 1, from which its keys are made. */
  repeat: number;
  /** Number of its keys, from the first, that were refused. Tried again in order, because a refusal is free. */
  refused: number;
  key: string;
  take?: number;
  request: OpenRequest;
  /** The request with references by fingerprint, as the lock keeps it. */
  paidRequest: OpenRequest;
  /** Output path without extension, relative to the folder of outputs. */
  save: string;
  /** Steps that must be done first. */
  needs: string[];
  price: Readonly<Price>;
  /** The address of this step in the lock, if it is another. */
  movedFrom?: string;
  /** SHA-256 digests of files that this step may replace, because they are its own earlier outputs. */
  replaces: string[];
}

/** An open send to ask about before anything is bought. Times are ISO 8601 UTC. */
export interface AskedSend {
  id: string;
  since: string;
  fence?: string;
  resent?: true;
  digest?: string;
  /** Nothing on this machine says that it ever left: to send its key again may buy what nobody agreed to. */
  isStrange?: true;
}

/** Everything needed to carry out one step. */
export interface Carry extends Order {
  asksOnly?: never;
  action: SpendingAction | 'attach' | 'download' | 'move';
  send?: AskedSend;
  /** The known job: nothing is created. */
  jobId?: string;
  credits?: number;
  /** Another step with the same request, whose job is this step's job too. */
  sharesJobOf?: string;
  /** Files in the lock, which `download` restores and `move` renames. Usually one; none for uploads and posts. */
  outputs?: Output[];
  /** `kind: upload`: the file whose bytes go up, relative to the manifest's folder. */
  file?: { path: string; sha256: string; bytes: number };
  /** Steps of this run that must be done and fit before this one is bought. They go first for it and its like. */
  canaries?: readonly string[];
  /** Parts of other steps' outputs without which this step is not needed. */
  parts?: PartCondition[];
  /** Members of lists in the request that may turn out not to exist: then the list is shorter. */
  optional?: { [address: string]: PartCondition[] };
  /** How long its job is watched at most, in ms. */
  timeoutMs?: number;
  /** Purchases that may follow in this run when its job fails. */
  retries?: Retries;
  /** A user accepted the file of this job, whatever the checks of it say. */
  asIs?: true;
  /** Requirements for the downloaded files. */
  expect?: Expectation;
  /** A user's consent to a post. Without it none is sent. */
  publish?: true;
}

/** Order that only finds out what became of a send, and buys nothing. The step has a row of its own, or is gone. */
export type Ask = Order & { asksOnly: true; action: 'create'; send: AskedSend } & {
  [field in Exclude<keyof Carry, keyof Order | 'asksOnly' | 'action' | 'send'>]?: never;
};

/** Limits from `retry:`: further purchases, and their total credits (`null`: no cap of its own). */
export interface Retries {
  left: number;
  credits: number | null;
  /** Generation of the first of them, from which its idempotency key is made. */
  generation: number;
  repeat: number;
}

/** A row as it is printed, and what a run needs of it. */
export type PlanRow = WorkRow | BlockedRow | RestingRow;

/** Facts of a row that a run carries out, which no other row states. */
type Work = Pick<Row, 'mayRetry' | 'unchecked' | 'canary' | 'canaries'> & {
  /** Absent where orders are kept apart, as on an engine. */
  order?: StepOrder;
};

/** Facts of a row that something is in the way of, which no other row states. */
type Waiting = Pick<Row, 'wouldRetry' | 'beside' | 'would'> & {
  /** The purchase that may follow, of a step that waits at a gate. Nothing carries it out. */
  later?: LaterPurchase;
  /** Parts of other steps' outputs without which this step is not needed. */
  parts?: PartCondition[];
  /** The row that a post which waits `beside` another one is when a person says that it is none of them. */
  asked?: WorkRow;
};

/** Facts that a row may state of its step, whatever happens to it. */
export type RowFacts = Omit<Row, 'action' | 'credits' | 'blockedBy' | keyof Work | keyof Waiting>;

type None<Facts> = { [field in keyof Facts]?: never };

/** Row of a step that a run buys or collects, or whose file it brings where it belongs. */
export interface WorkRow extends RowFacts, Work, None<Waiting> {
  action: StepOrder['action'];
  credits: number | null;
  blockedBy?: never;
}

/** Row of a step that would be bought, but for what is in the way. So it spends nothing, and has no order. */
export interface BlockedRow extends RowFacts, Waiting, None<Work> {
  action: 'blocked';
  credits: 0;
  blockedBy: NonNullable<Row['blockedBy']>;
}

/** Nothing is to be done, or only people can do it. */
export interface RestingRow extends RowFacts, None<Work>, None<Waiting> {
  action: Exclude<Action, StepOrder['action'] | 'blocked'>;
  credits: 0;
  blockedBy?: never;
}

export function withoutSend(order: Carry): Carry {
  const { send: _, ...rest } = order;
  return order.send === undefined ? order : rest;
}

/** Identifies an order within a run: that of a step by its address, so that what needs the step finds it. */
export function orderId(order: StepOrder): string {
  return rowId(order.asksOnly ? { address: order.address, send: order.send.id } : { address: order.address });
}

/** The same for a row. A send that is asked about has a row, and an order, beside those of its step. */
export function rowId({ address, send }: { address: string; send?: string | undefined }): string {
  return send === undefined ? address : `${address}\u0000${send}`;
}

export function addressOf(id: string): string {
  return id.split('\u0000')[0] ?? id;
}

/** An action, a reason and a price for every step. `apply` does what is written here and nothing else. */
export interface Plan extends Omit<WrittenPlan, 'rows' | 'saved'> {
  /** Rows in the graph's order; then open sends that no step asks about, and orphans last. */
  rows: PlanRow[];
}
