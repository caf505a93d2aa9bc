import type { OpenRequest } from '../graph/graph.ts';
import type { Output } from '../lock/record.ts';
import type { Expectation } from '../manifest/manifest.ts';
import type { Action, LaterPurchase, Reason, Row, RowPrice, WrittenPlan } from './plan.generated.ts';
import type { PartCondition } from './situation/parts.ts';

export type { Action, Need, Post as PostTarget, Totals as PlanTotals } from './plan.generated.ts';

export type SpendingAction = 'create' | 'redo' | 'retry';

/**
 * Price of a step's next purchase. Requests of one price class cost the same. `credits`: the amount to reserve, or
 * `null` until the first job of the class is charged.
 */
export type Price = RowPrice;

/** Work that a run does for a step. It is plain JSON, because it may be sent to another machine. */
export type StepOrder = Carry | Ask;

interface Order {
  campaign: string;
  address: string;
  task: string;
  kind: string;
  fingerprint: string;
  generation: number;
  /** Position of `key` among the idempotency keys of the purchase, from 1. */
  attempt: number;
  /**
   * Position of this purchase among the purchases of its fingerprint, from 1. The idempotency keys depend on this
   * number.
   */
  repeat: number;
  /** Number of refused idempotency keys. A run tries these keys again, in order. */
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
  /** SHA-256 digests of earlier outputs of the step. The step may replace these files. */
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
   * Set if the purchase journal of this machine lacks the request. Sending its key again could then buy something that
   * nobody approved.
   */
  isStrange?: true;
}

export interface OrderedJob {
  jobId?: string;
  credits?: number;
  sharesJobOf?: string;
  /** Files that `download` restores or `move` renames. Usually one file. Uploads and posts have none. */
  outputs?: Output[];
  /** Set if a user accepted the file of this job although it may fail the checks. */
  asIs?: true;
}

interface Conditions {
  /** Addresses of steps that must be done and meet `expect` before this step is bought. */
  canaries?: readonly string[];
  parts?: PartCondition[];
  /** List members of the request that may turn out not to exist. The list is then shorter. */
  optional?: { [address: string]: PartCondition[] };
}

export interface Carry extends Order, OrderedJob, Conditions {
  asksOnly?: never;
  action: SpendingAction | 'attach' | 'download' | 'move';
  send?: AskedSend;
  /** `kind: upload`: the file to upload, relative to the manifest's folder. */
  file?: { path: string; sha256: string; bytes: number };
  timeoutMs?: number;
  retries?: Retries;
  expect?: Expectation;
  /** Set if a user consented to publish. A run does not send a post without this mark. */
  publish?: true;
}

/** Order that only recovers the answer of a sent create request. It buys nothing. */
type Ask = Order & { asksOnly: true; action: 'create'; send: AskedSend } & {
  [field in Exclude<keyof Carry, keyof Order | 'asksOnly' | 'action' | 'send'>]?: never;
};

/** Limits from `retry:`: number of further purchases, and their total credits (`null`: no limit). */
export interface Retries {
  left: number;
  credits: number | null;
  /** Generation of the first further purchase. The idempotency keys of that purchase depend on it. */
  generation: number;
  repeat: number;
}

export type PlanRow = WorkRow | BlockedRow | RestingRow;

type Work = Pick<Row, 'mayRetry' | 'unchecked' | 'canary' | 'canaries'> & {
  /** Omitted where orders are stored separately, as on an engine. */
  order?: StepOrder;
};

type Waiting = Pick<Row, 'wouldRetry' | 'beside' | 'would'> & {
  /** For a step behind a gate: the purchase that an approval can allow before the pick. */
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

/** Returns the ID of an order within a run. The order of a step has the step's address as ID. */
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
