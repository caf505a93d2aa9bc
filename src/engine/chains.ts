import { isSpending, waitsFor } from '../plan/actions.ts';
import type { StepOrder } from '../plan/plan.ts';
import { chainOf } from '../plan/prices/fund.ts';

/** Facts about money when deciding who goes first. */
interface Means {
  /** Credits that may still be spent; infinite while no limit is known. */
  left: number;
  /** Price of a purchase, as far as known by now. */
  priceOf(order: StepOrder): number | null;
  /** Purchases are in flight, and `left` may or may not include their cost. */
  isMoving?: boolean;
}

/** Who may start now, and in which order: `all`, in the plan's order, or chain after chain. */
export type Allotment =
  | { is: 'all'; places?: never }
  /** `places`: orders of the chains that the credits carry, first chain first. Others that would spend wait. */
  | { is: 'chains'; places: ReadonlyMap<string, number> };

/**
 * Decides who may start. When the credits carry everything, order does not matter. When they do not, or nobody knows,
 * started work is finished before more is started: a wanted output, with everything it still needs, before another one.
 * Outputs of one row stand together, so that a product is complete early. Pure.
 *
 * @param open what is still to be bought, in topological order
 * @param ends in the order in which they are wanted
 */
export function allot(open: ReadonlyMap<string, StepOrder>, ends: readonly StepOrder[], means: Means): Allotment {
  const { left, priceOf } = means;
  if (left === Number.POSITIVE_INFINITY) return { is: 'all' };
  const known = [...open.values()].map(priceOf);
  // An unknown price is what is expected of it, else assumed to be the highest known one.
  const guess = known.reduce<number>((most, price) => Math.max(most, price ?? 0), 1);
  const costOf = (order: StepOrder) => priceOf(order) ?? order.price.likely ?? guess;
  const total = [...open.values()].reduce((sum, order) => sum + costOf(order), 0);
  if (total <= left && !known.includes(null)) return { is: 'all' };
  // Credits that seem too few now may carry the next product in a moment: then a later one must not get them.
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

/** True when a run pays for it. An order that shares a job, or has one, is free. */
export function isBought({ action, jobId, sharesJobOf, asksOnly }: StepOrder): boolean {
  return isSpending(action) && jobId === undefined && sharesJobOf === undefined && !asksOnly;
}

/** Outputs that nothing else of this run is made from, row by row: rows in the order of their first step. */
export function findEnds(
  orders: ReadonlyMap<string, StepOrder>,
  dependents: ReadonlyMap<string, unknown>,
): StepOrder[] {
  const rows = new Map<string, number>();
  const rowOf = ({ address }: StepOrder) => /@([^,/]*)/.exec(address)?.[1] ?? '';
  for (const order of orders.values()) {
    const row = rowOf(order);
    if (!rows.has(row)) rows.set(row, rows.size);
  }
  const ends = [...orders.values()].filter((order) => isBought(order) && !dependents.has(order.address));
  return ends
    .map((order) => ({ order, row: rows.get(rowOf(order)) ?? 0 }))
    .sort((a, b) => a.row - b.row)
    .map(({ order }) => order);
}
