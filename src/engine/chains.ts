import { isCharged, waitsFor } from '../plan/actions.ts';
import type { StepOrder } from '../plan/plan.ts';
import { chainOf, endsOf } from '../plan/prices/fund.ts';

interface Means {
  /** Credits that may still be spent; infinite while no limit is known. */
  left: number;
  /** Price of a purchase; `null` if not known yet. */
  priceOf(order: StepOrder): number | null;
  /** True if purchases are in flight, whose cost may not be subtracted from `left` yet. */
  isMoving?: boolean;
}

/** Which orders may start, and in which order: `all`, in the plan's order, or one chain after the other. */
export type Allotment =
  | { is: 'all'; places?: never }
  /** `places`: position of the chain of each order, for chains that the credits can pay for. Other purchases wait. */
  | { is: 'chains'; places: ReadonlyMap<string, number> };

/**
 * Decides which orders may start, and in which order. If the credits suffice for everything, the order does not matter.
 * If they do not, or if this is unknown, outputs are finished one by one: each with everything that it still needs.
 * Outputs of one row are adjacent, so that a product is complete early. Pure function.
 * @param open purchases that are still to be made, in topological order
 * @param ends outputs, most wanted first
 */
export function allot(open: ReadonlyMap<string, StepOrder>, ends: readonly StepOrder[], means: Means): Allotment {
  const { left, priceOf } = means;
  if (left === Number.POSITIVE_INFINITY) return { is: 'all' };
  const known = [...open.values()].map(priceOf);
  // An unknown price is replaced by its estimate, or by the highest known price.
  const guess = known.reduce<number>((most, price) => Math.max(most, price ?? 0), 1);
  const costOf = (order: StepOrder) => priceOf(order) ?? order.price.likely ?? guess;
  const total = [...open.values()].reduce((sum, order) => sum + costOf(order), 0);
  if (total <= left && !known.includes(null)) return { is: 'all' };
  // Credits that seem too few now may suffice for the next product in a moment, so a later product must not use them.
  const isSure = !known.includes(null) && means.isMoving !== true;
  const places = new Map<string, number>();
  let room = left;
  for (const end of ends) {
    if (!open.has(end.address)) continue;
    const chain = chainOf(end, {
      isTaken: ({ address }) => places.has(address),
      needsOf: (order) => waitsFor(order).flatMap((address) => open.get(address) ?? []),
    });
    const cost = chain.reduce((sum, order) => sum + costOf(order), 0);
    if (cost > room && !isSure) break;
    if (cost > room) continue;
    room -= cost;
    const place = places.size;
    for (const { address } of chain) places.set(address, place);
  }
  return { is: 'chains', places };
}

/** True if a run buys something new for the order. */
export function isPurchase(order: StepOrder): boolean {
  return isCharged(order) && !order.asksOnly;
}

/**
 * Returns the outputs that no other output of this run depends on, row by row; rows in the order of their first step.
 * An order with a known job needs nothing.
 */
export function findEnds(orders: ReadonlyMap<string, StepOrder>): StepOrder[] {
  const rowOf = ({ address }: StepOrder) => /@([^,/]*)/.exec(address)?.[1] ?? '';
  const rows = [...new Set([...orders.values()].map(rowOf))];
  const places = new Map(rows.map((row, place) => [row, place]));
  const placeOf = (order: StepOrder) => places.get(rowOf(order)) ?? 0;
  const open = [...orders.values()].filter(({ jobId, asksOnly }) => jobId === undefined && !asksOnly);
  const ends = endsOf(open, { namesOf: ({ address }) => [address], needsOf: (order: StepOrder) => waitsFor(order) });
  return ends.filter(isPurchase).sort((a, b) => placeOf(a) - placeOf(b));
}
