import type { Lock } from '../../lock/record.ts';
import { isSpending } from '../actions.ts';
import type { Agreement } from '../agreement.ts';
import type { Plan, Price, StepOrder } from '../plan.ts';
import { repeatOf } from '../purchases/key.ts';
import { ceilingOf } from './prices.ts';

/** How far charges may exceed what was only expected before somebody is asked again. */
const margin = 1.25;

type Priced = Pick<Price, 'credits'> & Partial<Pick<Price, 'likely' | 'source' | 'high'>>;

/** The most that purchases at prices that were only expected may come to. */
export function withMargin(expected: number): number {
  return Math.ceil(expected * margin);
}

/** The most that one purchase at this price is agreed to cost; `undefined`: nobody can estimate it. */
export function shareOf(price: Priced): number | undefined {
  const { likely, high = 0 } = price;
  const told = ceilingOf({ class: '', source: 'unknown', ...price });
  return told ?? (likely === undefined ? undefined : Math.max(high, withMargin(likely)));
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
    const told = ceilingOf({ class: '', source: 'unknown', ...price });
    vouched += told ?? 0;
    if (told !== undefined || price.likely === undefined) continue;
    expected += price.likely;
    highest += Math.max(price.likely, price.high ?? 0);
  }
  return vouched + Math.max(highest, withMargin(expected));
}

/** The ceiling of what these rows buy. */
export function ceilingOfRows(
  rows: readonly { action: Parameters<typeof isSpending>[0]; credits: number | null; price?: Priced }[],
): number {
  const spending = rows.filter(({ action }) => isSpending(action));
  return sumShares(spending.map(({ credits, price }) => price ?? { credits }));
}

/**
 * Credits left of an agreement's ceiling for a plan that goes on under it: what its purchases were charged, as the lock
 * has it, counts. What `retry:` and picks let follow was agreed to beside the ceiling, for as much as it was shown with.
 */
export function leftUnder(agreement: Agreement, { rows }: Pick<Plan, 'rows'>, lock: Lock): number {
  const { purchases, afterPicks, shown, ceiling } = agreement;
  /** Whether it is one of those that follow; `undefined`: the agreement does not name it. */
  const follows = (address: string, one: Pick<StepOrder, 'fingerprint' | 'generation' | 'repeat'>) => {
    const named = purchases.get(address);
    const first = afterPicks.get(address)?.generation ?? Number.POSITIVE_INFINITY;
    if (named?.fingerprint !== one.fingerprint) return one.generation >= first ? true : undefined;
    if (named.repeat === one.repeat) return false;
    return named.retries?.includes(one.repeat) === true ? true : undefined;
  };
  const share = (address: string, now = 0) => {
    const price = shown.get(address)?.price;
    return (price && shareOf(price)) ?? now;
  };
  let left = ceiling;
  for (const { address, order, credits } of rows) {
    if (order === undefined || order.asksOnly || !isSpending(order.action) || !follows(address, order)) continue;
    left += share(address, credits ?? shareOf(order.price));
  }
  const counted = new Set<string>();
  for (const { address, purchases: made, kind: own } of lock.steps.values()) {
    if (!purchases.has(address) && !afterPicks.has(address)) continue;
    for (const purchase of made) {
      const { jobId, credits = 0, kind = own } = purchase;
      const job = `${kind} ${jobId}`;
      if (jobId === undefined || counted.has(job)) continue;
      const isFurther = follows(address, { ...purchase, repeat: repeatOf(made, purchase) });
      if (isFurther === undefined) continue;
      counted.add(job);
      left -= isFurther ? Math.max(0, credits - share(address, credits)) : credits;
    }
  }
  return Math.max(0, left);
}
