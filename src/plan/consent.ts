import { defined } from '../ground/values.ts';
import { isSpending, publishes } from './actions.ts';
import type { Reason } from './plan.generated.ts';
import { type Plan, type PlanRow, type PostTarget, reasonOf } from './plan.ts';
import { isAskedAbout, isPost } from './posts/post-record.ts';
import { askRow } from './purchases/open-sends.ts';
import { blocked, untilStable } from './rows/draft.ts';
import { sumAgain } from './sum-up.ts';

function withhold(plan: Plan, waits: (row: PlanRow) => boolean, words: { why: Reason; until: string }): Plan {
  const waiting = plan.rows.filter(waits);
  if (waiting.length === 0) return plan;
  // If an unresolved create request has a separate plan row, this row blocks no other row.
  const ofSteps = waiting.filter(({ order }) => order?.send?.isStrange !== true || order.asksOnly !== true);
  const reasons = new Map(ofSteps.map(({ address }) => [address, words.why]));
  untilStable(reasons, () => {
    for (const row of plan.rows) {
      const need = reasons.has(row.address) ? undefined : needOf(row).find((address) => reasons.has(address));
      if (need !== undefined)
        reasons.set(row.address, reasonOf('consent', `needs ${need}, which waits ${words.until}`));
    }
  });
  const rows = plan.rows.map((row) => {
    const reason = row.send === undefined ? reasons.get(row.address) : waits(row) ? words.why : undefined;
    return reason === undefined ? row : withheld(row, reason);
  });
  const totals = sumAgain(plan.totals, rows);
  // The remaining limit of an earlier approval may be lower than the new total.
  return { ...plan, rows, totals: { ...totals, ceiling: Math.min(totals.ceiling, plan.totals.ceiling) } };
}

function needOf({ action, order }: PlanRow): string[] {
  if (order === undefined || !(isSpending(action) || order.sharesJobOf !== undefined)) return [];
  return order.needs;
}

function withheld(row: PlanRow, reason: Reason): PlanRow {
  const { parts } = row.order ?? {};
  const waits = { ...blocked(row, 'consent', reason), ...defined({ parts }) };
  return row.post === undefined ? waits : { ...waits, post: row.post };
}

/**
 * Returns whether a row needs approval of its cost. A free post needs only consent to publish. The recovery of a lost
 * answer is free, unless it repeats an idempotency key that is missing from this machine's purchase journal.
 */
export function isBought(row: PlanRow): boolean {
  const { action, order, credits } = row;
  const isQuestion = order?.asksOnly === true && order.send.isStrange !== true; // I43
  return isSpending(action) && !isQuestion && !(publishes(row) && credits === 0);
}

/** Blocks all purchases of a plan. The run still collects paid jobs and recovers lost answers. */
export function withholdPurchases(plan: Plan): Plan {
  const collected = plan.rows.flatMap((row) => (isBought(row) ? [...questionOf(row), row] : [withoutRetries(row)]));
  return withhold({ ...plan, rows: collected }, isBought, {
    why: reasonOf('payer', 'waits for approval of its cost'),
    until: 'for approval of its cost',
  });
}

/** Returns a row that only recovers a lost answer. Returns no row for a post: the recovery might publish it. */
function questionOf({ kind, reason, order }: PlanRow): PlanRow[] {
  if (order?.send === undefined || order.asksOnly || isPost(kind)) return [];
  const { campaign, address, task, fingerprint, generation, attempt, repeat, refused, key, take } = order;
  const { request, paidRequest, save, price, movedFrom, send } = order;
  return [
    askRow(reason, {
      ...{ campaign, address, task, kind, fingerprint, generation, attempt, repeat, refused, key },
      ...{ request, paidRequest, save, price, send, ...defined({ take, movedFrom }) },
    }),
  ];
}

function withoutRetries(row: PlanRow): PlanRow {
  const { mayRetry: _mayRetry, later: _later, ...rest } = row;
  if (rest.order?.retries === undefined) return rest as PlanRow;
  const { retries: _retries, ...order } = rest.order;
  return { ...rest, order } as PlanRow;
}

export function postsOf(rows: readonly PlanRow[], which: 'published' | 'waiting'): PostTarget[] {
  const isMeant =
    which === 'published' ? publishes : (row: PlanRow) => row.blockedBy === 'consent' && !isAskedAbout(row);
  return rows.flatMap((row) => (isMeant(row) && row.post !== undefined ? [row.post] : []));
}

export function nameAccounts(plan: Plan, accounts: readonly { id: string; name: string }[]): Plan {
  const byId = new Map(accounts.map(({ id, name }) => [id, name]));
  const rows = plan.rows.map((row) => {
    const known = row.post?.accounts.flatMap((id) => (byId.has(id) ? [[id, byId.get(id) ?? ''] as const] : [])) ?? [];
    if (row.post === undefined || known.length === 0) return row;
    const post = { ...row.post, names: Object.fromEntries(known) };
    return row.asked === undefined ? { ...row, post } : { ...row, post, asked: { ...row.asked, post } };
  });
  return { ...plan, rows };
}

/** Records that the user saw each post of the plan and consented to publish it. */
export function allowPosts(plan: Plan): Plan {
  const rows = plan.rows.map((row) => {
    const { order } = row;
    if (!publishes(row) || order === undefined || order.asksOnly) return row;
    return { ...row, order: { ...order, publish: true as const } };
  });
  return { ...plan, rows };
}

/** Adds the posts at `addresses` to the plan, after a user confirmed that none of these posts is published. */
export function admitPosts(plan: Plan, addresses: ReadonlySet<string>): Plan {
  if (addresses.size === 0) return plan;
  const rows = plan.rows.map((row) => (addresses.has(row.address) ? (row.asked ?? row) : row));
  const totals = sumAgain(plan.totals, rows);
  // When users consent to these posts, they also approve the cost of these rows.
  const ceiling = plan.totals.ceiling + totals.knownPrices - plan.totals.knownPrices;
  return { ...plan, rows, totals: { ...totals, ceiling } };
}

/** Blocks the posts that `which` selects, and the steps that need these posts, until a user consents. */
export function withholdPosts(plan: Plan, which: (row: PlanRow) => boolean = publishes): Plan {
  return withhold(plan, (row) => publishes(row) && which(row), {
    why: reasonOf('consent', 'not posted: publishing needs its own consent'),
    until: 'to be published',
  });
}
