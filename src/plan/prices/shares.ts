import { isSpending } from '../actions.ts';
import type { Price } from '../plan.ts';
import { ceilingOf } from './prices.ts';

/** Factor by which charges can exceed an estimate before the user is prompted again. */
const margin = 1.25;

type Priced = Pick<Price, 'credits'> & Partial<Pick<Price, 'likely' | 'source' | 'high'>>;

/** The most that purchases at prices that were only expected may come to. */
export function withMargin(expected: number): number {
  return Math.ceil(expected * margin);
}

/** The most that one purchase at this price is agreed to cost; `undefined`: nobody can estimate it. */
export function shareOf(price: Priced): number | undefined {
  const { likely, high = 0 } = price;
  const ceiling = ceilingOf(price);
  return ceiling ?? (likely === undefined ? undefined : Math.max(high, withMargin(likely)));
}

/**
 * The most that purchases at these prices are agreed to cost: what is vouched for, and of the rest what is expected with
 * a margin, or the highest that was ever seen of it. What nobody can estimate is not in it.
 */
export function sumShares(prices: Iterable<Priced>): number {
  let vouched = 0;
  let expected = 0;
  let highest = 0;
  for (const price of prices) {
    const ceiling = ceilingOf(price);
    vouched += ceiling ?? 0;
    if (ceiling !== undefined || price.likely === undefined) continue;
    expected += price.likely;
    highest += Math.max(price.likely, price.high ?? 0);
  }
  return vouched + Math.max(highest, withMargin(expected));
}

export function ceilingOfRows(
  rows: readonly { action: Parameters<typeof isSpending>[0]; credits: number | null; price?: Priced }[],
): number {
  const spending = rows.filter(({ action }) => isSpending(action));
  return sumShares(spending.map(({ credits, price }) => price ?? { credits }));
}
