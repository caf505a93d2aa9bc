import { orderName, type StepOrder } from '../plan/plan.ts';
import { isPost } from '../plan/post-record.ts';

/**
 * Posts come last: what cannot be taken back is sent when everything else has ended – except for what waits for a post
 * itself.
 */
export function holdPosts(
  orders: ReadonlyMap<string, StepOrder>,
  start: (order: StepOrder) => void,
): {
  /** Nothing that this step needs is missing any more. */
  ready(order: StepOrder): void;
  ended(order: StepOrder): void;
  /** Everything that can start by itself has been told. */
  release(): void;
} {
  const before = findStepsBeforePosts(orders);
  const held: StepOrder[] = [];
  let isOpen = false;
  const release = () => {
    if (before.size > 0 || !isOpen) return;
    for (const order of held.splice(0)) start(order);
  };
  return {
    ready(order) {
      if (!isPost(order.kind)) start(order);
      else held.push(order);
      release();
    },
    ended(order) {
      before.delete(orderName(order));
      release();
    },
    release() {
      isOpen = true;
      release();
    },
  };
}

/** Steps that are no posts and do not wait for one, directly or indirectly. */
function findStepsBeforePosts(orders: ReadonlyMap<string, StepOrder>): Set<string> {
  const before = new Set<string>();
  if (![...orders.values()].some(({ kind }) => isPost(kind))) return before;
  const after = new Set<string>();
  // Orders stand in topological order: what a step needs has been looked at before.
  for (const order of orders.values()) {
    if (isPost(order.kind) || order.needs.some((address) => after.has(address))) after.add(orderName(order));
    else before.add(orderName(order));
  }
  return before;
}
