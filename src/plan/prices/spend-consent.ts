import { defined } from '../../ground/values.ts';
import { isSpending, publishes } from '../actions.ts';
import type { Ask, Carry, Plan, PlanRow } from '../plan.ts';
import { isPost } from '../posts/post-record.ts';
import { reasonOf } from '../reason.ts';
import { withhold } from '../rows/withhold.ts';

/**
 * Returns whether a row needs consent to buy. A post that is free needs only the consent to publish. Asking about an
 * unresolved create request is free, unless it repeats the request and only the lock shows that it was sent before.
 */
export function isBought(row: PlanRow): boolean {
  const { action, order, credits } = row;
  const isQuestion = order?.asksOnly === true && order.send.isStrange !== true; // I43
  return isSpending(action) && !isQuestion && !(publishes(row) && credits === 0);
}

/**
 * Returns the part of a plan that needs no consent: paid jobs are collected, and lost answers recovered. Purchases
 * wait, including retries and those after picks.
 */
export function withholdPurchases(plan: Plan): Plan {
  const collected = plan.rows.flatMap((row) => (isBought(row) ? [...questionOf(row), row] : [withoutRetries(row)]));
  return withhold({ ...plan, rows: collected }, isBought, {
    why: reasonOf('payer', 'waits for approval of its cost'),
    until: 'for approval of its cost',
  });
}

/** Returns the rows that only ask about a lost answer of a step. None for a post, because asking might publish it. */
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
    ...defined({ take, movedFrom }),
  };
}

function withoutRetries(row: PlanRow): PlanRow {
  const { mayRetry: _mayRetry, later: _later, ...rest } = row;
  if (rest.order?.retries === undefined) return rest as PlanRow;
  const { retries: _retries, ...order } = rest.order;
  return { ...rest, order } as PlanRow;
}
