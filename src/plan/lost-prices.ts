import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { closedSends, mayBeCharged, sendOf } from '../lock/sends.ts';
import { isSpending } from './actions.ts';
import type { Draft } from './draft.ts';
import type { Held } from './held.ts';
import type { PlanRow } from './plan.ts';
import type { PriceOf } from './prices.ts';
import { reasonOf } from './reason.ts';

/**
 * Returns the price classes of lost creates of whose kinds nothing names a price, if this plan has a row to find out each of them: that
 * row goes alone, and its charge prices the lost one too. Empty when there is none, or when something is held that no
 * other charge would price: a job whose charge the service does not state, a second create lost in the same class, one
 * that no row resembles.
 *
 * @param asked sends that this plan asks about
 */
export function findLostPrices(
  { lock, graph }: { lock: Lock; graph: Pick<Graph, 'budget'> },
  facts: { held: Held; priceOf: PriceOf; asked: ReadonlySet<string>; rows: readonly PlanRow[] },
): string[] {
  const { held, priceOf, asked, rows } = facts;
  if (held.unknownPrices === 0 || graph.budget === undefined) return [];
  const lost = new Map<string, string>();
  const closed = closedSends(lock);
  for (const { kind, purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      const { request = purchases[0]?.request } = purchase;
      if (!mayBeCharged(purchase) || request === undefined) continue;
      const id = sendOf(purchase);
      if (asked.has(id) || closed.has(id)) continue;
      const price = priceOf(purchase.kind ?? kind, request);
      if (price.credits === null && price.held === undefined) lost.set(id, price.class);
    }
  }
  const classes = new Set(lost.values());
  const finding = rows.filter(({ action, credits }) => isSpending(action) && credits === null);
  const found = new Set(finding.map(({ order }) => order?.price.class));
  const isEach = classes.size === held.unknownPrices && [...classes].every((name) => found.has(name));
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
