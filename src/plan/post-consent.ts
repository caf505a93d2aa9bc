import { isSpending, publishes } from './actions.ts';
import { blocked } from './blocked.ts';
import { ceilingOfRows } from './ceiling.ts';
import type { Decision } from './decide.ts';
import type { Match } from './find-purchases.ts';
import type { Plan, PlanRow, PlanTotals, PostTarget } from './plan.ts';
import { targetOf } from './post-accounts.ts';
import { isAskedAbout, isPost, sendsOf } from './post-record.ts';
import { reasonOf } from './reason.ts';
import { sumPrices } from './sum-prices.ts';

/** Lists what the plan publishes, or would with consent. */
export function postsOf(rows: readonly PlanRow[], which: 'published' | 'waiting'): PostTarget[] {
  const isMeant =
    which === 'published' ? publishes : (row: PlanRow) => row.blockedBy === 'consent' && !isAskedAbout(row);
  return rows.flatMap((row) => (isMeant(row) && row.post !== undefined ? [row.post] : []));
}

/** Completes the row of a post. A failed post is never followed by another automatically. */
export function tellPost(row: PlanRow, { match, decision }: { match: Match; decision: Decision }): void {
  const { step, record } = match;
  if (!isPost(step.kind)) return;
  delete row.mayRetry;
  delete row.order?.retries;
  if (publishes(row)) {
    row.post = { ...targetOf(step.request), ...(row.order?.parts !== undefined && { perhaps: true }) };
  }
  if (decision.changedSince !== true) return;
  row.changedSince = true;
  const jobId = record && sendsOf(record)[0]?.jobId;
  if (jobId !== undefined) row.jobId = jobId;
}

export function countPosts(rows: readonly PlanRow[]): Pick<PlanTotals, 'posts'> {
  const posts = rows.filter(publishes).length;
  return posts > 0 ? { posts } : {};
}

/** Records the consent of somebody who was told of each post of the plan. Nothing else lets a post go. */
export function allowPosts(plan: Plan): Plan {
  const rows = plan.rows.map((row) => {
    const { order } = row;
    if (!publishes(row) || order === undefined || order.asksOnly) return row;
    return { ...row, order: { ...order, publish: true as const } };
  });
  return { ...plan, rows };
}

/** Takes posts of these addresses into the plan, of which a person has said that they are none of those that are out. */
export function admitPosts(plan: Plan, addresses: ReadonlySet<string>): Plan {
  if (addresses.size === 0) return plan;
  const rows = plan.rows.map((row) => (addresses.has(row.address) ? (row.asked ?? row) : row));
  const { totals } = plan;
  const sums = sumPrices(rows);
  // What they cost is agreed to together with them.
  const ceiling = (totals.ceiling ?? totals.toSpend) + sums.toSpend - totals.toSpend;
  return { ...plan, rows, totals: { ...totals, ...sums, ...countPosts(rows), ceiling } };
}

/** Removes from the plan its posts, and what needs them, until somebody consents to them. */
export function withholdPosts(plan: Plan): Plan {
  const waiting = new Map(plan.rows.filter(publishes).map(({ address }) => [address, waitingReason]));
  if (waiting.size === 0) return plan;
  // A step that shares the job of a post may precede it.
  for (let before = 0; before < waiting.size; ) {
    before = waiting.size;
    for (const row of plan.rows) {
      const need = waiting.has(row.address) ? undefined : needOf(row).find((address) => waiting.has(address));
      if (need !== undefined) waiting.set(row.address, `needs ${need}, which waits to be published`);
    }
  }
  const rows = plan.rows.map((row) => {
    const reason = waiting.get(row.address);
    return reason === undefined ? row : withheld(row, reason);
  });
  return { ...plan, rows, totals: withoutWithheld(plan.totals, rows) };
}

const waitingReason = 'waits to be published, which takes a consent of its own (--publish)';

/** Lists what a row waits for: nothing, unless its step is still to be made, or takes over another step's job. */
function needOf({ action, order }: PlanRow): string[] {
  if (order === undefined || !(isSpending(action) || order.sharesJobOf !== undefined)) return [];
  return order.needs;
}

function withheld(row: PlanRow, reason: string): PlanRow {
  const waits = blocked(row, 'consent', reasonOf('consent', reason));
  return row.post === undefined ? waits : { ...waits, post: row.post };
}

function withoutWithheld(totals: PlanTotals, rows: readonly PlanRow[]): PlanTotals {
  const { posts: _posts, mayRetry: _mayRetry, estimate: _estimate, ...rest } = totals;
  const { ceiling = rest.toSpend } = rest;
  // Of an earlier agreement less may be left.
  return { ...rest, ...sumPrices(rows), ceiling: Math.min(ceiling, ceilingOfRows(rows)) };
}
