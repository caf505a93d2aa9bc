import type { Lock, Purchase, StepRecord } from '../lock/record.ts';
import { closedSends, sendOf } from '../lock/sends.ts';
import { chargeName, chargesByJob } from '../lock/spent.ts';
import type { Price } from './plan.ts';
import type { PriceOf } from './prices.ts';

export interface Held {
  credits: number;
  /** Number of possible charges for whose kind nothing names a price. */
  unknownPrices: number;
}

/**
 * Sums what may have been spent by an unknown amount: creates whose answer was lost, and jobs for which the service did
 * not say what it deducted. It counts against the budget until the amount is known: at its price, or else at the highest
 * that anything names for its kind. `asked`: sends that are asked about, whose price is reserved anew.
 */
export function heldCredits(lock: Lock, priceOf: PriceOf, asked: ReadonlySet<string> = new Set()): Held {
  return sumHeld([...heldPurchases(lock, priceOf, asked)]);
}

export function sumHeld(purchases: readonly HeldPurchase[]): Held {
  const held: Held = { credits: 0, unknownPrices: 0 };
  for (const { credits } of purchases) {
    held.credits += credits ?? 0;
    held.unknownPrices += credits === null ? 1 : 0;
  }
  return held;
}

/** A purchase that may have been charged. `name`: of the send, or of the charge of its job. */
export interface HeldPurchase {
  name: string;
  record: StepRecord;
  purchase: Purchase;
  /** Its price. Absent where nobody knows what was asked for. */
  price?: Readonly<Price>;
  /** Credits held for it; `null`: nothing names a price. */
  credits: number | null;
}

/** Yields each of them once. */
export function* heldPurchases(
  lock: Lock,
  priceOf: PriceOf,
  asked: ReadonlySet<string> = new Set(),
): Generator<HeldPurchase> {
  const seen = new Set<string>([...asked, ...closedSends(lock), ...chargesByJob(lock).keys()]);
  for (const record of lock.steps.values()) {
    const { kind, purchases } = record;
    for (const purchase of purchases) {
      const { state, jobId, request = purchases[0]?.request } = purchase;
      if (state === 'refused') continue;
      // A job that several steps share is one charge; each send is one, whatever its key.
      const name = jobId === undefined ? sendOf(purchase) : chargeName(purchase); // I22
      if (seen.has(name)) continue;
      seen.add(name);
      const price = request === undefined ? undefined : priceOf(purchase.kind ?? kind, request);
      const credits = price?.credits ?? price?.held ?? null; // I14 (held)
      yield { name, record, purchase, ...(price !== undefined && { price }), credits };
    }
  }
}
