import { CampaignError } from '../contract/failure.ts';
import { type Agreement, covers } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';

/** Throws when the plan as it is made now would buy anything that the agreement does not name, or at a higher price. */
export function refuseUnplanned(before: Agreement, now: Plan): void {
  const [first, ...others] = now.rows.filter((row) => !covers(before, row));
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  throw new CampaignError({
    code: 'MB3102',
    message: `the plan is stale: ${first.address} would be bought now (${first.reason.text})${more}, which is not what it says`,
    hint: 'plan again; nothing was spent',
    addresses: [first, ...others].map(({ address }) => address),
  });
}
