import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { closedSends, mayBeCharged } from '../../lock/sends.ts';
import { chargeName, chargesByJob } from '../../lock/spent.ts';
import { isSpending } from '../actions.ts';
import type { PlanRow, Price } from '../plan.ts';
import { reasonOf } from '../reason.ts';
import type { Draft } from '../rows/draft.ts';
import type { PriceOf } from './prices.ts';

export interface Held {
  credits: number;
  /** Number of possible charges for whose kind nothing names a price. */
  unknownPrices: number;
}

/**
 * Sums what may have been spent by an unknown amount: creates whose answer was lost, and jobs for which the service did
 * not say what it deducted. It counts against the budget until the amount is known: at its price, or else at the highest price
 * named for its kind. `asked`: unresolved creates that are retried; their prices are reserved again.
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
      const { request = purchases[0]?.request } = purchase;
      if (purchase.state === 'refused') continue;
      // A job that several steps share is one charge; each send is one, whatever its key.
      const name = mayBeCharged(purchase) ? purchase.send : chargeName(purchase); // I22
      if (seen.has(name)) continue;
      seen.add(name);
      const price = request === undefined ? undefined : priceOf(purchase.kind ?? kind, request);
      const credits = price?.credits ?? price?.held ?? null; // I14 (held)
      yield { name, record, purchase, ...(price !== undefined && { price }), credits };
    }
  }
}

/**
 * Returns the price classes of lost creates of whose kinds nothing names a price, if this plan has a row to find out each of them: that
 * row goes alone, and its charge prices the lost one too. Empty when there is none, or when something is held that no
 * other charge would price: a job whose charge the service does not state, a second create lost in the same class, one
 * that no row resembles.
 *
 * @param held what may have been charged, but for what this plan asks about
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

/** Blocks what costs something itself until lost prices are known: a lost create may have cost anything. */
export function waitForPrices(draft: Draft): void {
  const reason = reasonOf(
    'price-unknown',
    'waits until the price of a create is known whose answer was lost; run again then',
  );
  for (const row of draft.inRun) {
    if (isSpending(row.action) && row.credits !== null && row.credits > 0) draft.block(row, 'budget', reason);
  }
}
