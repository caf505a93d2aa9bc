import { defined } from '../../ground/values.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { chargeName, chargesByJob, closedSends, mayBeCharged } from '../../lock/sends.ts';
import type { Price } from '../plan.ts';
import type { PriceOf } from './prices.ts';

export interface Held {
  credits: number;
  unknownPrices: number;
}

/**
 * Sums the possible charges of unknown amount: create requests without an answer, and jobs for which the service did
 * not state the charge. They count against the budget at their price, or else at the highest known price of their kind,
 * until the amount is known. `asked`: unresolved create requests that are retried, whose prices are reserved again.
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

/** A purchase that may have been charged. `name`: the name of the send, or of its job's charge. */
export interface HeldPurchase {
  name: string;
  record: StepRecord;
  purchase: Purchase;
  price?: Readonly<Price>;
  credits: number | null;
}

export function* heldPurchases(
  lock: Lock,
  priceOf: PriceOf,
  asked: ReadonlySet<string> = new Set(),
): Generator<HeldPurchase> {
  const seen = new Set<string>([...asked, ...closedSends(lock), ...chargesByJob(lock).keys()]);
  for (const record of lock.steps.values()) {
    const { kind, purchases } = record;
    for (const purchase of purchases) {
      const { request = purchases[0]?.request } = purchase;
      if (purchase.state === 'refused') continue;
      // A job that several steps share is one charge. Each send is one charge, even if several have the same key.
      const name = mayBeCharged(purchase) ? purchase.send : chargeName(purchase); // I22
      if (seen.has(name)) continue;
      seen.add(name);
      const price = request === undefined ? undefined : priceOf(purchase.kind ?? kind, request);
      const credits = price?.credits ?? price?.held ?? null; // I14 (held)
      yield { name, record, purchase, ...defined({ price }), credits };
    }
  }
}
