import type { StepOrder } from '../plan/plan.ts';

/** What a step waits for in this run. One whose job is known waits for nobody: it is only collected. */
function needsInRun(order: StepOrder, orders: ReadonlyMap<string, StepOrder>): string[] {
  if (order.jobId !== undefined) return [];
  return order.needs.filter((address) => orders.has(address));
}

/** How many steps of this run each one waits for; those that wait for none are not named. */
export function countNeeds(orders: ReadonlyMap<string, StepOrder>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [address, order] of orders) {
    const count = needsInRun(order, orders).length;
    if (count > 0) counts.set(address, count);
  }
  return counts;
}

export function invertNeeds(orders: ReadonlyMap<string, StepOrder>): Map<string, string[]> {
  const dependents = new Map<string, string[]>();
  for (const order of orders.values()) {
    for (const need of needsInRun(order, orders)) {
      const list = dependents.get(need);
      if (list === undefined) dependents.set(need, [order.address]);
      else list.push(order.address);
    }
  }
  return dependents;
}

/** For each step that others wait for the length of the longest chain of them: longer chains start first. */
export function measureHeights(
  orders: ReadonlyMap<string, StepOrder>,
  dependents: ReadonlyMap<string, string[]>,
): Map<string, number> {
  const heights = new Map<string, number>();
  // Orders stand in topological order, so from the back every dependent is known before what it waits for.
  for (const address of [...orders.keys()].reverse()) {
    const above = dependents.get(address);
    if (above === undefined) continue;
    heights.set(
      address,
      above.reduce((most, dependent) => Math.max(most, 1 + (heights.get(dependent) ?? 0)), 0),
    );
  }
  return heights;
}

/** What is paid for already comes first: attach, then download, and only then new creates. */
export function priorityOf(order: StepOrder, heights: ReadonlyMap<string, number>): number {
  const height = heights.get(order.address) ?? 0;
  switch (order.action) {
    case 'attach':
      return 3_000_000 + height;
    case 'download':
    case 'move':
      return 2_000_000 + height;
    case 'create':
    case 'redo':
    case 'retry':
      return order.sentBefore ? 1_000_000 + height : height;
    default:
      return order.action satisfies never;
  }
}

/**
 * How much hangs on seeing that a job is over; a job that somebody asks for by itself is 1. While others wait for slots,
 * one that stands idle delays them all. Otherwise steps that need it could begin at once; and after that only the last job
 * to end is waited for. The fewer run, the likelier it is this one, and the more surely so by the time that it is looked
 * at, when some of the others are over too: hence the square, and hence less than 1 while many run.
 */
export function urgencyOf({
  dependents,
  waiting,
  running,
}: { [name in 'dependents' | 'waiting' | 'running']: number }) {
  if (waiting > 0) return dependents > 0 ? 4 : 3;
  return (dependents > 0 ? 9 : 0.7) + Math.min(30, (8 / Math.max(1, running)) ** 2);
}
