import type { CreatedJob } from '../contract/answer.ts';
import type { Price } from '../plan/plan.ts';
import { worstFactor } from '../plan/price-sources.ts';

/**
 * Charge of a create. The answer says it; else the `fall` of the balance, where the create was on the wire alone:
 * others may use the account, so it is believed upwards, and not when it is beyond all measure. Nothing, beside a
 * balance that fell, is no charge. A list is believed upwards, too, where a price is known. `null`: nothing tells.
 *
 * @param reserved what was reserved for it; `null` where its price was not known
 */
export function chargeOf(
  { credits, isListed }: Pick<CreatedJob, 'credits' | 'isListed'>,
  { price, reserved, fall = 0 }: { price: Price; reserved: number | null; fall?: number | undefined },
): number | null {
  const isFree = price.source === 'documented' && price.credits === 0;
  const isTold = credits !== null && (credits > 0 || isFree || fall <= 0);
  if (isTold) return isListed ? Math.max(credits, reserved ?? 0) : credits; // I14 (told)
  // A balance that did not fall may be one that is behind.
  if (isFree || fall <= 0) return null;
  const most = worstFactor * (reserved || price.held || Number.POSITIVE_INFINITY);
  return fall > most ? null : Math.max(fall, reserved ?? 0); // I14 (balance)
}
