import { CampaignError } from '../contract/failure.ts';
import { isSpending } from '../plan/actions.ts';
import { isNamedAfterPicks } from '../plan/block-at-gates.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { isWithin } from '../plan/prices.ts';

/** Throws when the plan as it is made now would buy anything that the one before does not name, or at a higher price. */
export function refuseUnplanned(before: Plan, now: Plan): void {
  const named = new Map(before.rows.map((row) => [row.address, row]));
  const [first, ...others] = now.rows.filter((row) => !isNamed(row, named.get(row.address)));
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  throw new CampaignError({
    code: 'MB3102',
    message: `the plan is stale: ${first.address} would be bought now (${first.reason.text})${more}, which is not what it says`,
    hint: 'plan again; nothing was spent',
    addresses: [first, ...others].map(({ address }) => address),
  });
}

function isNamed(row: PlanRow, before: PlanRow | undefined): boolean {
  const { order, credits } = row;
  if (order === undefined) return true;
  const planned = before?.order;
  if (before?.later !== undefined) {
    const { later, wouldCost = 0, wouldRetry = 0 } = before;
    return isNamedAfterPicks(row, { later, wouldCost, wouldRetry });
  }
  if (before === undefined || planned === undefined) return false;
  if ((order.retries?.left ?? 0) > (planned.retries?.left ?? 0)) return false;
  if (!isSpending(row.action)) return true;
  if (order.asksOnly) return order.send !== undefined && order.send.id === planned.send?.id;
  if (order.fingerprint !== planned.fingerprint || order.repeat !== planned.repeat) return false;
  return isWithin(credits, before.credits);
}
