import type { StepOutcome } from '../contract/event.ts';
import { waitsFor } from '../plan/actions.ts';
import type { Plan, StepOrder } from '../plan/plan.ts';
import type { PartCondition } from '../plan/situation/parts.ts';
import type { StepEnd } from '../run/step-end.ts';

export type Orders = ReadonlyMap<string, StepOrder>;

/** Ids of the orders that ask about a send, by address. */
function findAsks(orders: Orders): ReadonlyMap<string, readonly string[]> {
  const asks = new Map<string, string[]>();
  for (const [name, order] of orders) {
    if (order.asksOnly) asks.set(order.address, [...(asks.get(order.address) ?? []), name]);
  }
  return asks;
}

/**
 * Ids of the orders that each one waits for in this run; orders that wait for none are omitted. An order with a known
 * job waits for nobody: it is only collected. Before anything else is bought at an address, its open sends are asked
 * about.
 */
function findNeeds(orders: Orders): Map<string, readonly string[]> {
  const asks = findAsks(orders);
  const needs = new Map<string, readonly string[]>();
  for (const [name, order] of orders) {
    if (order.jobId !== undefined || order.asksOnly) continue;
    const used = waitsFor(order).filter((address) => orders.has(address)); // I28 (run)
    // Unresolved creates are queried together: equal requests can only be matched to jobs as a set.
    const own = asks.size === 0 || order.send !== undefined ? [] : (asks.get(order.address) ?? []); // I21
    if (used.length + own.length > 0) needs.set(name, own.length === 0 ? used : [...used, ...own]);
  }
  return needs;
}

/** Number of orders that each one waits for in this run, and the dependents of each. */
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

/** Most that the number of steps which hang on one counts: less than a step more in the chain. */
const mostHanging = 1023;

/**
 * How early each step is wanted that others wait for: first by the longest chain of what waits for it, a pick included, then
 * by how many steps hang on it, where one that hangs on it in two ways counts twice.
 */
export function rankOrders(
  orders: Orders,
  dependents: ReadonlyMap<string, string[]>,
  gates: Plan['gates'] = [],
): Map<string, number> {
  const behindGates = new Map(gates.flatMap(({ members, waiting }) => members.map((one) => [one, waiting] as const)));
  const hanging = new Map<string, number>();
  const ranks = new Map<string, number>();
  // Topological order: from the back, every dependent is known before what it waits for.
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

/** Where an order stands among those that could start. The lowest goes first, compared number by number. */
export type Place = readonly [stage: number, chain: number, rank: number, arrival: number];

export function comparePlaces(a: Place, b: Place): number {
  for (const [index, one] of a.entries()) {
    const other = b[index] ?? one;
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** Orders already paid for come first: attach, then download, then open sends, and only then new creates. */
export function stageOf({ action, jobId, send }: StepOrder): number {
  switch (action) {
    case 'attach':
      return 0;
    case 'download':
    case 'move':
      return 1;
    case 'create':
    case 'redo':
    case 'retry':
      // As another head has left it: its job is one of those that an account may have at once.
      if (jobId !== undefined) return 0;
      return send === undefined ? 3 : 2;
    default:
      return action satisfies never;
  }
}

/**
 * Urgency of seeing that a job is over; 1 for a job queried on its own. While others wait for slots, an idle one delays
 * them all. Otherwise steps that need it could begin at once; after that only the last job to end matters. The fewer
 * run, the likelier it is this one, and the more surely so by the time of the query, when some of the others are over
 * too: hence the square, and hence less than 1 while many run.
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
 * True when dependents of an order can go on. A step that is not needed blocks nobody: its users determine that
 * themselves. Nor does a send that was asked about, unless it can be asked about again: what is bought now is something
 * else.
 */
export function letsGoOn(dependent: StepOrder, order: StepOrder, end: StepEnd): boolean {
  if (isCanaryOf(dependent, order)) return provesEnough(order, end, dependent);
  return end.outcome === 'done' || end.outcome === 'unneeded' || (order.asksOnly === true && !end.recoverable);
}

export function isCanaryOf({ canaries }: StepOrder, { address }: StepOrder): boolean {
  return canaries?.includes(address) === true;
}

/** True when what waits for this canary can go on. One that turned out not to be needed shows nothing to others. */
function provesEnough(canary: StepOrder, end: StepEnd, { parts = [] }: StepOrder): boolean {
  if (end.outcome === 'done') return true;
  if (end.outcome !== 'unneeded') return false;
  // Later parts of the same output are not needed either, and find that out themselves.
  const isLater = ({ of, fingerprint, index }: PartCondition) =>
    canary.parts?.some((one) => one.of === of && one.fingerprint === fingerprint && one.index <= index) === true;
  return parts.some(isLater);
}

/** Says why what waits for a canary does not go on: `waits for its canary: hero@lamp was refused`. */
export function describeHold({ address }: StepOrder, outcome: StepOutcome): string {
  return `waits for its canary: ${address} ${words[outcome] ?? outcome}`;
}

const words: { readonly [outcome in StepOutcome]?: string } = {
  refused: 'was refused',
  left: 'was not bought',
  running: 'is running',
  blocked: 'is blocked',
  unresolved: 'is unresolved',
  unneeded: 'is not needed; the next run lets another one go first',
  lost: 'is lost',
};
