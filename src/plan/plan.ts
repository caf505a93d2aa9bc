import type { OpenRequest } from '../graph/graph.ts';
import type { Output } from '../lock/record.ts';
import type { Expectation } from '../manifest/manifest.ts';
import type { PartCondition } from './parts.ts';
import type { Row, WrittenPlan } from './plan.generated.ts';

export type { Action, Post as PostTarget, Totals as PlanTotals } from './plan.generated.ts';

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

/** A row as it is printed, and what carrying it out takes. */
export interface PlanRow extends Row {
  order?: StepOrder;
}

/** The name of an order among those of a run: a send that is asked about stands beside its step. */
export function orderName({ address, asksOnly, send }: StepOrder): string {
  return asksOnly && send !== undefined ? `${address}\u0000${send.id}` : address;
}

/** For every step an action, a reason and a price. `apply` does what is written here and nothing else. */
export interface Plan extends Omit<WrittenPlan, 'rows' | 'saved'> {
  /** In the graph's order; then open sends that no step asks about, and orphans last. */
  rows: PlanRow[];
}
