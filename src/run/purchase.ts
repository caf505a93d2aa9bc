import type { LookUp, Ports } from '../contract/ports.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { StepEnd } from './step-end.ts';

/** `order`: the order bought in the end, possibly under a later key than the plan's. */
export type Bought = { order: StepOrder; jobId: string; credits: number | null; fresh: boolean };

/** A create on record, and its known facts. Times are milliseconds since 1970, by the service's clock. */
export interface Sent {
  id: string;
  /** Time of the first send. */
  at: number;
  /** Reason why its answer is unknown. */
  because: string;
  fence?: string | undefined;
  /** A list has shown that nothing came of the first send. */
  resent: boolean;
  /** The service knows a purchase under its key: this is what it said, while the first bytes of the key are tried. */
  keyError?: string;
}

/**
 * Progress of the paid act. `intended`: durable, and certainly not at the service. `sent`: it may have been charged;
 * where its key is replayed, it is resent. `searching`: reading the service's list. `made-nothing`: as that list shows.
 */
export type Create =
  | { is: 'new' }
  | { is: 'intended' | 'sent' | 'made-nothing'; send: Sent }
  | { is: 'searching'; send: Sent; found: Promise<LookUp> };

export type Ended = { end: Bought | StepEnd } | { next: StepOrder };

/** Everything that stays the same while one key is used. */
export interface Purchase {
  order: StepOrder;
  ports: Ports;
  /** The bytes to send, or the reason why they cannot be made. */
  body: string | StepEnd;
  reserved: number | null;
  /** Milliseconds since 1970, by this clock. */
  startedAt: number;
  tries: number;
}

/** How far the service's clock is ahead of this one, in ms; an unknown one is assumed to equal this clock. */
export function msAhead(ahead: number | { unreachable: string }): number {
  return typeof ahead === 'number' ? ahead : 0;
}
