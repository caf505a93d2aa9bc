import { publishes } from '../actions.ts';
import type { Decision } from '../decide.ts';
import type { Plan, PlanRow, PlanTotals, PostTarget } from '../plan.ts';
import { sumPrices } from '../prices/sum-prices.ts';
import { reasonOf } from '../reason.ts';
import { buyOnce } from '../rows/draft.ts';
import { withhold } from '../rows/withhold.ts';
import type { Match } from '../situation/find-purchases.ts';
import { targetOf } from './post-accounts.ts';
import { isAskedAbout, isPost, sendsOf } from './post-record.ts';

export function postsOf(rows: readonly PlanRow[], which: 'published' | 'waiting'): PostTarget[] {
  const isMeant =
    which === 'published' ? publishes : (row: PlanRow) => row.blockedBy === 'consent' && !isAskedAbout(row);
  return rows.flatMap((row) => (isMeant(row) && row.post !== undefined ? [row.post] : []));
}

/** Completes the row of a post. A post is never repeated automatically, even if it failed. */
export function tellPost(
  row: PlanRow,
  { match, decision, isPerhaps }: { match: Match; decision: Decision; isPerhaps: boolean },
): void {
  const { step, record } = match;
  if (!isPost(step.kind)) return;
  buyOnce(row);
  if (publishes(row)) {
    row.post = { ...targetOf(step.request), ...(isPerhaps && { perhaps: true }) };
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

/** Records the consent of a user who was shown each post of the plan. Nothing else approves a post. */
export function allowPosts(plan: Plan): Plan {
  const rows = plan.rows.map((row) => {
    const { order } = row;
    if (!publishes(row) || order === undefined || order.asksOnly) return row;
    return { ...row, order: { ...order, publish: true as const } };
  });
  return { ...plan, rows };
}

/** Adds posts of these addresses to the plan, because a user decided that none of them is already published. */
export function admitPosts(plan: Plan, addresses: ReadonlySet<string>): Plan {
  if (addresses.size === 0) return plan;
  const rows = plan.rows.map((row) => (addresses.has(row.address) ? (row.asked ?? row) : row));
  const { totals } = plan;
  const sums = sumPrices(rows);
  // The user agrees to their cost together with the posts.
  const ceiling = totals.ceiling + sums.knownPrices - totals.knownPrices;
  return { ...plan, rows, totals: { ...totals, ...sums, ...countPosts(rows), ceiling } };
}

/**
 * Removes from the plan its posts, and the steps that need them, until a user consents. `which`: limits this to some
 * rows.
 */
export function withholdPosts(plan: Plan, which: (row: PlanRow) => boolean = publishes): Plan {
  return withhold(plan, (row) => publishes(row) && which(row), {
    why: reasonOf('consent', 'not posted: needs its own consent'),
    until: 'to be published',
  });
}
