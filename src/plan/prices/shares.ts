import { isSpending } from '../actions.ts';
import type { Price } from '../plan.ts';
import { ceilingOf } from './prices.ts';

/** Factor by which charges can exceed an estimate before the user is asked again. */
const margin = 1.25;

type Priced = Pick<Price, 'credits'> & Partial<Pick<Price, 'likely' | 'source' | 'high'>>;

export function withMargin(expected: number): number {
  return Math.ceil(expected * margin);
}

/** Returns the maximum cost that is approved for one purchase; `undefined`: it has no estimate. */
export function shareOf(price: Priced): number | undefined {
  const { likely, high = 0 } = price;
  const ceiling = ceilingOf(price);
  return ceiling ?? (likely === undefined ? undefined : Math.max(high, withMargin(likely)));
}

/**
 * Returns the credits that are approved when the first of `count` purchases without an estimate was charged: for all of
 * them, or for this one alone if the user is asked again.
 */
export function shareOnceCharged(
  charged: number,
  { count, asksAgain = false }: { count: number; asksAgain?: boolean | undefined },
): number {
  return asksAgain && count > 1 ? charged : withMargin(charged * count);
}

/**
 * Returns the maximum cost that is agreed to for purchases at these prices: guaranteed maximums, and for the others the
 * estimate with a margin, or the highest charge that was seen. Prices without an estimate are not included.
 */
function sumShares(prices: Iterable<Priced>): number {
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
