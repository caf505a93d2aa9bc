import type { LookUp, Ports } from '../contract/ports.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { StepEnd } from './step-end.ts';

/** `order`: what was bought in the end, which may be under a later key than the plan's. */
export type Bought = { order: StepOrder; jobId: string; credits: number | null; fresh: boolean };

/** A create that is on record, and what is known of it. Times are milliseconds since 1970, by the service's clock. */
export interface Sent {
  id: string;
  /** When it left first. */
  at: number;
  /** Why its answer is not known. */
  because: string;
  fence?: string | undefined;
  /** A list has shown that nothing came of it the first time. */
  resent: boolean;
}

/**
 * How far the paid act has got. `intended`: durable, and certainly not at the service. `sent`: it may have been charged; where
 * its key is replayed, it is sent again. `searching`: the service's list is read. `made-nothing`: by that list.
 */
export type Create =
  | { is: 'new' }
  | { is: 'intended' | 'sent' | 'made-nothing'; send: Sent }
  | { is: 'searching'; send: Sent; found: Promise<LookUp> };

export type Ended = { end: Bought | StepEnd } | { next: StepOrder };

/** What stays the same while one key is used. */
export interface Purchase {
  order: StepOrder;
  ports: Ports;
  /** The bytes to send, or why they cannot be made. */
  body: string | StepEnd;
  reserved: number | null;
  /** Milliseconds since 1970, by this clock. */
  startedAt: number;
  tries: number;
}

/** What the service's clock is ahead of this one, in milliseconds; one that is not known is taken to be this clock. */
export function msAhead(ahead: number | { unreachable: string }): number {
  return typeof ahead === 'number' ? ahead : 0;
}
