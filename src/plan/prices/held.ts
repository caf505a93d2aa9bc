import { defined } from '../../ground/values.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { chargeName, chargesByJob, closedSends, mayBeCharged } from '../../lock/sends.ts';
import { isSpending } from '../actions.ts';
import type { PlanRow, Price } from '../plan.ts';
import { reasonOf } from '../reason.ts';
import type { Draft } from '../rows/draft.ts';
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

/**
 * Returns the price classes of lost create requests for whose kinds no price is known, if this plan has a row to find
 * out each price. That row is bought alone, and its charge is also the price of the lost request. Returns none if one of
 * the possible charges would not get a price this way: a job whose charge the service does not state, a second lost
 * request of the same class, or a lost request that no row resembles.
 *
 * @param held possible charges, without those that this plan asks about
 */
export function findLostPrices(
  held: readonly HeldPurchase[],
  { budget, rows }: { budget: number | undefined; rows: readonly PlanRow[] },
): string[] {
  const unpriced = held.filter(({ credits }) => credits === null);
  if (unpriced.length === 0 || budget === undefined) return [];
  const lost = unpriced.flatMap(({ purchase, price }) => (mayBeCharged(purchase) ? (price?.class ?? []) : []));
  const classes = new Set(lost);
  const finding = rows.filter(({ action, credits }) => isSpending(action) && credits === null);
  const found = new Set(finding.map(({ order }) => order?.price.class));
  const isEach = classes.size === unpriced.length && [...classes].every((name) => found.has(name));
  return isEach ? [...classes].sort() : [];
}

/** Blocks rows that cost credits while an unresolved create has no known price, because it may have cost any amount. */
export function waitForPrices(draft: Draft): void {
  const reason = reasonOf(
    'price-unknown',
    'waits until the price of a create with a lost answer is known; then run again',
  );
  for (const row of draft.inRun) {
    if (isSpending(row.action) && row.credits !== null && row.credits > 0) draft.block(row, 'budget', reason);
  }
}
