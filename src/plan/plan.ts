import type { OpenRequest } from '../graph/graph.ts';
import type { Output } from '../lock/record.ts';
import type { Expectation } from '../manifest/manifest.ts';
import type { Action, LaterPurchase, Reason, Row, RowPrice, WrittenPlan } from './plan.generated.ts';
import type { PartCondition } from './situation/parts.ts';

export type { Action, Need, Post as PostTarget, Totals as PlanTotals } from './plan.generated.ts';

export type SpendingAction = 'create' | 'redo' | 'retry';

/**
 * Price of a step's next purchase. Requests of the same price class cost the same. `credits`: the amount to reserve, or
 * `null` until the first job of the class is charged.
 */
export type Price = RowPrice;

/** Work that a run does for a step, as plain JSON, because a client may send the order to an engine. */
export type StepOrder = Carry | Ask;

interface Order {
  campaign: string;
  address: string;
  task: string;
  kind: string;
  fingerprint: string;
  generation: number;
  /** Number of `key` among the idempotency keys of this purchase, from 1. */
  attempt: number;
  /** Number of this purchase among those with the same fingerprint, from 1. The idempotency keys depend on `repeat`. */
  repeat: number;
  /** Number of refused idempotency keys. A run tries the refused keys again, in order. */
  refused: number;
  key: string;
  take?: number;
  request: OpenRequest;
  paidRequest: OpenRequest;
  /** Output path without extension, relative to the output folder. */
  save: string;
  needs: string[];
  price: Readonly<Price>;
  movedFrom?: string;
  /** SHA-256 digests of earlier outputs of the step. A run may replace files with these digests. */
  replaces: string[];
}

/** Unresolved create request to settle before any purchase. Times are ISO 8601 UTC. */
export interface AskedSend {
  id: string;
  since: string;
  fence?: string;
  resent?: true;
  digest?: string;
  /**
   * Set if this machine's purchase journal lacks the request: to repeat its key could buy something that nobody
   * approved.
   */
  isStrange?: true;
}

export interface OrderedJob {
  jobId?: string;
  credits?: number;
  sharesJobOf?: string;
  /** Files that the action `download` restores or `move` renames. Usually one file. Empty for uploads and posts. */
  outputs?: Output[];
  /** Set if a user accepted the file of this job even if the file fails the checks. */
  asIs?: true;
}

interface Conditions {
  /** Addresses of steps that must be done and meet `expect` before this step is bought. */
  canaries?: readonly string[];
  parts?: PartCondition[];
  /** Conditions of optional list items in the request, by address. A run drops items whose part does not exist. */
  optional?: { [address: string]: PartCondition[] };
}

export interface Carry extends Order, OrderedJob, Conditions {
  asksOnly?: never;
  action: SpendingAction | 'attach' | 'download' | 'move';
  send?: AskedSend;
  /** Only for uploads: the file to upload. The path is relative to the manifest's folder. */
  file?: { path: string; sha256: string; bytes: number };
  timeoutMs?: number;
  retries?: Retries;
  expect?: Expectation;
  /** Set if a user consented to publish the post. A run does not send a post without this consent. */
  publish?: true;
}

/** Order that only recovers the lost answer to a sent create request, and buys nothing. */
type Ask = Order & { asksOnly: true; action: 'create'; send: AskedSend } & {
  [field in Exclude<keyof Carry, keyof Order | 'asksOnly' | 'action' | 'send'>]?: never;
};

/** Limits from `retry:`: the number of retries, and their total credits (`null`: no limit). */
export interface Retries {
  left: number;
  credits: number | null;
  /** Generation number of the first retry in the step's record. */
  generation: number;
  repeat: number;
}

export type PlanRow = WorkRow | BlockedRow | RestingRow;

type Work = Pick<Row, 'mayRetry' | 'unchecked' | 'canary' | 'canaries'> & {
  /** Omitted if orders are stored separately, as on an engine. */
  order?: StepOrder;
};

type Waiting = Pick<Row, 'wouldRetry' | 'beside' | 'would'> & {
  /** Only for a step behind a gate: the purchase after a pick that an approval includes in advance. */
  later?: LaterPurchase;
  parts?: PartCondition[];
  /**
   * Set for a post that may repeat a published post (`beside`): the row to use if a user decides that the post is new.
   */
  asked?: WorkRow;
};

export type RowFacts = Omit<Row, 'action' | 'credits' | 'blockedBy' | keyof Work | keyof Waiting>;

type None<Facts> = { [field in keyof Facts]?: never };

export interface WorkRow extends RowFacts, Work, None<Waiting> {
  action: StepOrder['action'];
  credits: number | null;
  blockedBy?: never;
}

export interface BlockedRow extends RowFacts, Waiting, None<Work> {
  action: 'blocked';
  credits: 0;
  blockedBy: NonNullable<Row['blockedBy']>;
}

export interface RestingRow extends RowFacts, None<Work>, None<Waiting> {
  action: Exclude<Action, StepOrder['action'] | 'blocked'>;
  credits: 0;
  blockedBy?: never;
}

export function reasonOf(code: Reason['code'], text: string): Reason {
  return { code, text };
}

export function withoutSend(order: Carry): Carry {
  const { send: _, ...rest } = order;
  return order.send === undefined ? order : rest;
}

/** Returns the ID of an order within a run: its address, or address and create request for a separate row. */
export function orderId(order: StepOrder): string {
  return rowId(order.asksOnly ? { address: order.address, send: order.send.id } : { address: order.address });
}

export function rowId({ address, send }: { address: string; send?: string | undefined }): string {
  return send === undefined ? address : `${address}\u0000${send}`;
}

export function addressOf(id: string): string {
  return id.split('\u0000')[0] ?? id;
}

export interface Plan extends Omit<WrittenPlan, 'rows' | 'saved'> {
  rows: PlanRow[];
}
