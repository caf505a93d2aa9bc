import type { StepOutcome } from '../contract/event.ts';
import { isCharged, waitsFor } from '../plan/actions.ts';
import type { Plan, StepOrder } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';

type Orders = ReadonlyMap<string, StepOrder>;

function findAsks(orders: Orders): ReadonlyMap<string, readonly string[]> {
  const asks = new Map<string, string[]>();
  for (const [name, order] of orders) {
    if (order.asksOnly) asks.set(order.address, [...(asks.get(order.address) ?? []), name]);
  }
  return asks;
}

/**
 * Returns the ids of the orders that each order waits for. An order with a known job waits for no other order. The run
 * searches for the job of an open create request before it buys anything else for the same step.
 */
function findNeeds(orders: Orders): Map<string, readonly string[]> {
  const asks = findAsks(orders);
  const needs = new Map<string, readonly string[]>();
  for (const [name, order] of orders) {
    if (order.jobId !== undefined || order.asksOnly) continue;
    const used = waitsFor(order).filter((address) => orders.has(address)); // I28 (run)
    // Searches for unresolved requests do not wait for each other: identical requests are matched to jobs together.
    const own = asks.size === 0 || order.send !== undefined ? [] : (asks.get(order.address) ?? []); // I21
    if (used.length + own.length > 0) needs.set(name, own.length === 0 ? used : [...used, ...own]);
  }
  return needs;
}

export function linkOrders(orders: Orders): { counts: Map<string, number>; dependents: Map<string, string[]> } {
  const counts = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const [name, needs] of findNeeds(orders)) {
    counts.set(name, needs.length);
    for (const need of needs) {
      const list = dependents.get(need);
      if (list === undefined) dependents.set(need, [name]);
      else list.push(name);
    }
  }
  return { counts, dependents };
}

/**
 * Maximum number of dependents that count for a rank. All dependents together add less to a rank than one more step in
 * the chain.
 */
const mostHanging = 1023;

/**
 * Returns the rank of each order that other orders wait for. The order with the highest rank starts first. A rank is
 * the length of the longest chain of dependents, including picks of reviewers; the number of dependents decides between
 * equal chains. A dependent counts twice if two paths of dependencies lead to it.
 */
export function rankOrders(
  orders: Orders,
  dependents: ReadonlyMap<string, string[]>,
  gates: Plan['gates'] = [],
): Map<string, number> {
  const behindGates = new Map(gates.flatMap(({ members, waiting }) => members.map((one) => [one, waiting] as const)));
  const hanging = new Map<string, number>();
  const ranks = new Map<string, number>();
  // Goes in reverse topological order, so that the ranks of all dependents are computed before the rank of a step.
  for (const name of [...orders.keys()].reverse()) {
    const above = dependents.get(name) ?? [];
    const behind = behindGates.get(name) ?? 0;
    if (above.length + behind === 0) continue;
    const height = above.reduce((most, one) => Math.max(most, 1 + Math.floor(ranks.get(one) ?? 0)), behind > 0 ? 1 : 0);
    const count = above.reduce((sum, one) => sum + 1 + (hanging.get(one) ?? 0), behind);
    hanging.set(name, Math.min(mostHanging, count));
    ranks.set(name, height + Math.min(mostHanging, count) / (mostHanging + 1));
  }
  return ranks;
}

/**
 * Returns a factor for the polling rate of a job. While orders wait for slots, a late poll delays all of them. While no
 * order waits, a late poll delays dependent steps or the end of the run. The fewer jobs run, the more likely this job
 * ends the run: hence the square, and less than 1 if many jobs run.
 */
export function urgencyOf({
  dependents,
  waiting,
  running,
}: { [name in 'dependents' | 'waiting' | 'running']: number }) {
  if (waiting > 0) return dependents > 0 ? 4 : 3;
  return (dependents > 0 ? 9 : 0.7) + Math.min(30, (8 / Math.max(1, running)) ** 2);
}

/**
 * Returns whether a dependent can continue after an order has ended. After an order that was not needed, the dependent
 * continues. A failed search for the job of a request blocks dependents only if a later search may find the job.
 */
export function releasesDependent(dependent: StepOrder, order: StepOrder, end: StepEnd): boolean {
  // A canary that was not made proves nothing, so its dependents do not start.
  if (isCanaryOf(dependent, order)) return end.outcome === 'done';
  return end.outcome === 'done' || end.outcome === 'unneeded' || (order.asksOnly === true && !end.recoverable);
}

export function isCanaryOf({ canaries }: StepOrder, { address }: StepOrder): boolean {
  return canaries?.includes(address) === true;
}

/** Returns, for example, `waits for its canary: hero@lamp is refused`. */
export function describeHold({ address }: StepOrder, outcome: StepOutcome): string {
  const words = { failed: 'failed', left: 'was not bought', unneeded: 'is not needed' };
  return `waits for its canary: ${address} ${words[outcome as keyof typeof words] ?? `is ${outcome}`}`;
}

export function isPurchase(order: StepOrder): boolean {
  return isCharged(order) && !order.asksOnly;
}
