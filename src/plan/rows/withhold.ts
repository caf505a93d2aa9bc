import { defined } from '../../ground/values.ts';
import { isSpending } from '../actions.ts';
import type { Plan, PlanRow, PlanTotals } from '../plan.ts';
import { sumPrices } from '../prices/sum-prices.ts';
import { type Reason, reasonOf } from '../reason.ts';
import { blocked } from './draft.ts';

/**
 * Removes from the plan the rows that wait for a consent, and the rows that need them. `why`: reason of the waiting
 * rows; `until`: what they wait for, used in the reason of the rows that need them.
 */
export function withhold(plan: Plan, waits: (row: PlanRow) => boolean, words: { why: Reason; until: string }): Plan {
  const waiting = plan.rows.filter(waits);
  if (waiting.length === 0) return plan;
  // An open send with a row of its own blocks no other row.
  const ofSteps = waiting.filter(({ order }) => order?.send?.isStrange !== true || order.asksOnly !== true);
  const reasons = new Map(ofSteps.map(({ address }) => [address, words.why]));
  // A step may come before the step whose job it shares.
  for (let before = 0; before < reasons.size; ) {
    before = reasons.size;
    for (const row of plan.rows) {
      const need = reasons.has(row.address) ? undefined : needOf(row).find((address) => reasons.has(address));
      if (need !== undefined)
        reasons.set(row.address, reasonOf('consent', `needs ${need}, which waits ${words.until}`));
    }
  }
  const rows = plan.rows.map((row) => {
    const reason = row.send === undefined ? reasons.get(row.address) : waits(row) ? words.why : undefined;
    return reason === undefined ? row : withheld(row, reason);
  });
  return { ...plan, rows, totals: withoutWithheld(plan.totals, rows) };
}

/** Lists the steps that a row needs. Empty unless its step is still to be made or shares another step's job. */
function needOf({ action, order }: PlanRow): string[] {
  if (order === undefined || !(isSpending(action) || order.sharesJobOf !== undefined)) return [];
  return order.needs;
}

function withheld(row: PlanRow, reason: Reason): PlanRow {
  const { parts } = row.order ?? {};
  const waits = { ...blocked(row, 'consent', reason), ...defined({ parts }) };
  return row.post === undefined ? waits : { ...waits, post: row.post };
}

function withoutWithheld(totals: PlanTotals, rows: readonly PlanRow[]): PlanTotals {
  const { posts: _posts, mayRetry: _mayRetry, estimate: _estimate, ...rest } = totals;
  const sums = sumPrices(rows);
  // Less of the ceiling of an earlier approval may be left.
  return { ...rest, ...sums, ceiling: Math.min(rest.ceiling, sums.ceiling) };
}
