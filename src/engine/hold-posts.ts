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
  /** An order that is carried out, too. What it needs is known here. */
  expect(order: StepOrder): void;
  /** An order that was expected, and is not carried out any more. */
  withdraw(name: string): void;
  /** To be called when every order that can start on its own has been reported. */
  release(): void;
} {
  const { before, after } = findStepsAroundPosts(orders);
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
    expect(order) {
      if (isAfter(order, after)) after.add(order.address);
      else before.add(orderName(order));
    },
    withdraw(name) {
      before.delete(name);
      release();
    },
    release() {
      isOpen = true;
      release();
    },
  };
}

/** `before`: names of orders that neither are posts nor wait for one, directly or indirectly. `after`: the others' addresses. */
function findStepsAroundPosts(orders: ReadonlyMap<string, StepOrder>): { before: Set<string>; after: Set<string> } {
  const before = new Set<string>();
  const after = new Set<string>();
  if (![...orders.values()].some(({ kind }) => isPost(kind))) return { before, after };
  // Topological order: the dependencies of a step come before it.
  for (const order of orders.values()) {
    if (isAfter(order, after)) after.add(order.address);
    else before.add(orderName(order));
  }
  return { before, after };
}

function isAfter({ kind, needs }: StepOrder, after: ReadonlySet<string>): boolean {
  return isPost(kind) || needs.some((address) => after.has(address));
}
