import { isDeepStrictEqual } from 'node:util';
import { isSpending } from '../plan/actions.ts';
import { sumAfterPicks } from '../plan/block-at-gates.ts';
import { ceilingOfRows } from '../plan/ceiling.ts';
import type { Row, Saved, WrittenPlan } from '../plan/plan.generated.ts';
import { estimateOf } from '../plan/sum-prices.ts';

/**
 * Where what a saved plan shows to people – its rows and totals – is not what it has done: somebody who can commit one
 * could have it read like a plan that costs nothing. Undefined when both say the same.
 */
export function findContradiction(plan: WrittenPlan & { saved: Saved }): string | undefined {
  const { rows, totals, saved } = plan;
  // An open send may stand beside its step.
  const steps = rows.filter(({ send }) => send === undefined);
  const byAddress = new Map(steps.map((row) => [row.address, row]));
  if (byAddress.size < steps.length) return 'it has two rows for one step';
  for (const { address, action, credits } of rows) {
    if (!isSpending(action) && credits !== 0) return `${address} costs something and buys nothing`;
  }
  for (const [address, { repeat, retries }] of Object.entries(saved.purchases)) {
    const row = byAddress.get(address);
    const shows = row !== undefined && isSpending(row.action);
    if (repeat !== undefined && !shows) return `it buys ${address}, and its rows do not say so`;
    if (retries !== undefined && row?.mayRetry === undefined) {
      return `it buys ${address} again, and its rows do not say so`;
    }
  }
  for (const [address, { retries }] of Object.entries(saved.afterPicks ?? {})) {
    const row = byAddress.get(address);
    const shows = row?.blockedBy === 'gate' && row.wouldCost !== undefined;
    if (!shows || (retries !== undefined && row.wouldRetry === undefined)) {
      return `it buys ${address} after a pick, and its rows do not say so`;
    }
  }
  if (!isDeepStrictEqual(totals.afterPicks, sumAfterPicks(rows))) {
    return 'what follows its gates does not add up to its total';
  }
  const posts = new Set(steps.flatMap(({ address, action, post }) => (post && isSpending(action) ? [address] : [])));
  const hidden = (saved.publishes ?? []).find((address) => !posts.has(address));
  if (hidden !== undefined) return `it publishes ${hidden}, and its rows do not say so`;
  if ((totals.posts ?? 0) < (saved.publishes?.length ?? 0)) return 'it publishes more posts than its total says';
  const again = rows.reduce((sum, { mayRetry }) => sum + (mayRetry ?? 0), 0);
  if ((totals.mayRetry ?? 0) !== again) return 'its retries do not add up to their total';
  const spent = rows.reduce((sum, { credits }) => sum + (credits ?? 0), 0);
  const unknown = rows.filter(({ credits }) => credits === null).length;
  if (totals.toSpend !== spent || totals.unknownPrices !== unknown) return 'its rows do not add up to its total';
  const shownPrice = ({ blockedBy, credits, wouldCost }: Row) => (blockedBy === 'gate' ? wouldCost : credits);
  const two = rows.find((row) => row.price !== undefined && row.price.credits !== shownPrice(row));
  if (two !== undefined) return `${two.address} has two prices`;
  if (totals.estimate !== undefined && !isDeepStrictEqual(totals.estimate, estimateOf(rows))) {
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
