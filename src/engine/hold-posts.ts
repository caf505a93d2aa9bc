import { orderName, type StepOrder } from '../plan/plan.ts';
import { isPost } from '../plan/post-record.ts';

/** Puts posts last: they cannot be taken back, so everything else ends first – except steps that wait for a post. */
export function holdPosts(
  orders: ReadonlyMap<string, StepOrder>,
  start: (order: StepOrder) => void,
): {
  /** To be called when everything this step needs is there. */
  ready(order: StepOrder): void;
  ended(order: StepOrder): void;
  /** To be called when every order that can start on its own has been reported. */
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

/** Steps that are not posts and do not wait for one, directly or indirectly. */
function findStepsBeforePosts(orders: ReadonlyMap<string, StepOrder>): Set<string> {
  const before = new Set<string>();
  if (![...orders.values()].some(({ kind }) => isPost(kind))) return before;
  const after = new Set<string>();
  // Topological order: the dependencies of a step come before it.
  for (const order of orders.values()) {
    if (isPost(order.kind) || order.needs.some((address) => after.has(address))) after.add(orderName(order));
    else before.add(orderName(order));
  }
  return before;
}
