import { orderId, type StepOrder } from '../plan/plan.ts';
import { accountsOf, mayMeet, type PostAccounts } from '../plan/posts/post-accounts.ts';
import { isPost } from '../plan/posts/post-record.ts';
import type { StepEnd } from '../run/step-end.ts';

/** A post that was sent and may not be published yet. `isOver`: this run cannot find out any more. */
interface UncertainPost {
  order: StepOrder;
  isOver: boolean;
}

/**
 * Schedules posts last, because they cannot be undone: everything else ends first, except steps that wait for a post.
 * Posts to one account are sent one by one. After a post whose outcome is unknown, no other is sent to that account.
 */
export function holdPosts(
  orders: ReadonlyMap<string, StepOrder>,
  act: {
    start(order: StepOrder): void;
    leave(order: StepOrder, why: string): void;
  },
): {
  /** Marks the step as ready, because all its dependencies are done. */
  ready(order: StepOrder): void;
  ended(order: StepOrder, how: StepEnd): void;
  /** Adds an order. Its dependencies must be among the known orders. */
  expect(order: StepOrder): void;
  withdraw(id: string): void;
  /** Must be called when every order that can start on its own has been reported. */
  release(): void;
} {
  const { before, after } = findStepsAroundPosts(orders);
  const uncertain = new Map<string, UncertainPost>();
  let held: StepOrder[] = [];
  let isOpen = false;
  const accounts = new Map<string, PostAccounts>();
  const goesTo = (order: StepOrder): PostAccounts => {
    const id = orderId(order);
    if (!accounts.has(id)) accounts.set(id, accountsOf(order.request));
    return accounts.get(id);
  };
  const begin = (order: StepOrder): boolean => {
    const isFree = order.jobId !== undefined || order.sharesJobOf !== undefined;
    // I41 (run)
    const known = isFree ? [] : [...uncertain.values()].filter((one) => mayMeet(goesTo(one.order), goesTo(order)));
    const over = known.find(({ isOver }) => isOver);
    if (over === undefined && known.length > 0) return false;
    if (over !== undefined) act.leave(order, whyNot(over.order));
    else {
      if (!isFree) uncertain.set(orderId(order), { order, isOver: false });
      act.start(order);
    }
    return true;
  };
  const release = () => {
    if (before.size > 0 || !isOpen || held.length === 0) return;
    const waiting = held;
    held = [];
    const stay = waiting.filter((order) => !begin(order));
    held = [...stay, ...held];
  };
  /** Drops a post that has not been sent, so that other posts no longer wait for it. */
  const letGo = (id: string) => {
    held = held.filter((order) => orderId(order) !== id);
    uncertain.delete(id);
  };
  return {
    ready(order) {
      if (!isPost(order.kind)) act.start(order);
      else held.push(order);
      release();
    },
    ended(order, { outcome }) {
      before.delete(orderId(order));
      if (outcome === 'unresolved' && isPost(order.kind)) {
        uncertain.set(orderId(order), { order, isOver: true });
      } else uncertain.delete(orderId(order));
      release();
    },
    expect(order) {
      letGo(orderId(order));
      if (isAfter(order, after)) after.add(order.address);
      else before.add(orderId(order));
    },
    withdraw(id) {
      before.delete(id);
      letGo(id);
      release();
    },
    release() {
      isOpen = true;
      release();
    },
  };
}

function whyNot({ address }: StepOrder): string {
  return `goes to an account of ${address}, which may be published already`;
}

/**
 * `before`: ids of orders that neither are posts nor wait for one, directly or indirectly. `after`: addresses of all
 * other orders.
 */
function findStepsAroundPosts(orders: ReadonlyMap<string, StepOrder>): { before: Set<string>; after: Set<string> } {
  const before = new Set<string>();
  const after = new Set<string>();
  if (![...orders.values()].some(({ kind }) => isPost(kind))) return { before, after };
  // Topological order: the dependencies of a step come before it.
  for (const order of orders.values()) {
    if (isAfter(order, after)) after.add(order.address);
    else before.add(orderId(order));
  }
  return { before, after };
}

function isAfter({ kind, needs }: StepOrder, after: ReadonlySet<string>): boolean {
  return isPost(kind) || needs.some((address) => after.has(address));
}
