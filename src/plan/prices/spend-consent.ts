import { isSpending, publishes } from '../actions.ts';
import type { Ask, Carry, Plan, PlanRow } from '../plan.ts';
import { isPost } from '../posts/post-record.ts';
import { reasonOf } from '../reason.ts';
import { withhold } from '../rows/withhold.ts';

/**
 * Returns whether a row is bought. A post that costs nothing is approved as a post. Querying an unresolved create buys
 * nothing, unless it repeats the create with its key and only the lock records that it was sent before.
 */
export function isBought(row: PlanRow): boolean {
  const { action, order, credits } = row;
  const isQuestion = order?.asksOnly === true && order.send.isStrange !== true; // I43
  return isSpending(action) && !isQuestion && !(publishes(row) && credits === 0);
}

/**
 * The part of a plan that takes nobody's consent: paid jobs are collected, and lost answers asked for. What is bought waits, and so
 * does what might be bought in place of a failed job, or after a pick.
 */
export function withholdPurchases(plan: Plan): Plan {
  const collected = plan.rows.flatMap((row) => (isBought(row) ? [...questionOf(row), row] : [withoutRetries(row)]));
  return withhold({ ...plan, rows: collected }, isBought, {
    why: reasonOf('payer', 'waits for approval of its cost'),
    until: 'for approval of its cost',
  });
}

/** The question about a lost answer that the row of a step would ask first. For a post it might publish. */
function questionOf({ address, task, kind, reason, order }: PlanRow): PlanRow[] {
  if (order?.send === undefined || order.asksOnly || isPost(kind)) return [];
  const { send } = order;
  const asks: PlanRow = {
    ...{ address, task, kind, reason, send: send.id },
    ...{ action: 'create', credits: order.price.credits, price: order.price },
    order: questionOfOrder({ ...order, send }),
  };
  return [asks];
}

function questionOfOrder(order: Carry & Pick<Ask, 'send'>): Ask {
  const { campaign, address, task, kind, fingerprint, generation, attempt, repeat, refused, key, take } = order;
  const { request, paidRequest, save, price, movedFrom, send } = order;
  return {
    ...{ campaign, address, task, kind, fingerprint, generation, attempt, repeat, refused, key },
    ...{ request, paidRequest, save, price, send, needs: [], replaces: [], action: 'create', asksOnly: true },
    ...(take !== undefined && { take }),
    ...(movedFrom !== undefined && { movedFrom }),
  };
}

function withoutRetries(row: PlanRow): PlanRow {
  const { mayRetry: _mayRetry, later: _later, ...rest } = row;
  if (rest.order?.retries === undefined) return rest as PlanRow;
  const { retries: _retries, ...order } = rest.order;
  return { ...rest, order } as PlanRow;
}
