import type { Lock } from '../../lock/record.ts';
import { isSpending } from '../actions.ts';
import type { Agreement } from '../agreement.ts';
import type { Plan, StepOrder } from '../plan.ts';
import { repeatOf } from '../purchases/key.ts';
import { shareOf } from './shares.ts';

/**
 * Returns the credits left under an approval's ceiling for a plan that continues under it, after its charges in the
 * lock. Retries and purchases after picks were approved in addition, up to the amount shown for them: only their excess
 * counts.
 */
export function leftUnder(agreement: Agreement, { rows }: Pick<Plan, 'rows'>, lock: Lock): number {
  const { purchases, afterPicks, shown, ceiling } = agreement;
  /** Returns whether this is a purchase after `retry:` or a pick; `undefined`: the agreement does not name it. */
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
