import { isDeepStrictEqual } from 'node:util';
import { isSpending } from '../plan/actions.ts';
import { agreementFrom, findHidden } from '../plan/agreement.ts';
import { sumAfterPicks } from '../plan/block-at-gates.ts';
import { ceilingOfRows } from '../plan/ceiling.ts';
import type { Row, Saved, WrittenPlan } from '../plan/plan.generated.ts';
import { sumPrices } from '../plan/sum-prices.ts';

/**
 * Where what a saved plan shows to people – its rows and totals – is not what it has done: somebody who can commit one
 * could have it read like a plan that costs nothing. Undefined when both say the same.
 */
export function findContradiction(plan: WrittenPlan & { saved: Saved }): string | undefined {
  const { rows, totals, saved } = plan;
  // An open send may stand beside its step.
  const steps = rows.filter(({ send }) => send === undefined);
  if (new Set(steps.map(({ address }) => address)).size < steps.length) return 'it has two rows for one step';
  for (const { address, action, credits } of rows) {
    if (!isSpending(action) && credits !== 0) return `${address} costs something and buys nothing`;
  }
  const { purchases, afterPicks = {}, publishes = [] } = saved;
  const hidden = findHidden(agreementFrom(rows, { purchases, afterPicks, publishes, ceiling: totals.toSpend }));
  if (hidden !== undefined) return hidden;
  if (!isDeepStrictEqual(totals.afterPicks, sumAfterPicks(rows))) {
    return 'what follows its gates does not add up to its total';
  }
  if ((totals.posts ?? 0) < publishes.length) return 'it publishes more posts than its total says';
  const { toSpend, unknownPrices, mayRetry = 0, estimate } = sumPrices(rows);
  if ((totals.mayRetry ?? 0) !== mayRetry) return 'its retries do not add up to their total';
  if (totals.toSpend !== toSpend || totals.unknownPrices !== unknownPrices)
    return 'its rows do not add up to its total';
  const shownPrice = ({ blockedBy, credits, wouldCost }: Row) => (blockedBy === 'gate' ? wouldCost : credits);
  const two = rows.find((row) => row.price !== undefined && row.price.credits !== shownPrice(row));
  if (two !== undefined) return `${two.address} has two prices`;
  if (totals.estimate !== undefined && !isDeepStrictEqual(totals.estimate, estimate)) {
    return 'its rows do not add up to its estimate';
  }
  if (totals.ceiling !== undefined && totals.ceiling !== ceilingOfRows(rows)) {
    return 'its rows do not add up to its ceiling';
  }
  if (totals.asksAgain !== undefined) return 'it asks somebody whom nobody asks here';
  const { maxCredits, concurrency = plan.concurrency } = saved.options;
  if (totals.maxCredits !== maxCredits) return 'its cap is not the one that it shows';
  return plan.concurrency === concurrency ? undefined : 'its concurrency is not the one that it shows';
}
