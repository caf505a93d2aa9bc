import { isSpending } from '../plan/actions.ts';
import type { StepOrder } from '../plan/plan.ts';

/** What is known of money when it has to be decided who goes first. */
export interface Means {
  /** Credits that may still be spent; infinite while nobody knows of an end. */
  left: number;
  /** What a purchase costs, as far as anybody knows by now. */
  priceOf(order: StepOrder): number | null;
  /** Purchases are on the wire, and `left` may, or may not, be without what they cost. */
  isMoving?: boolean;
}

/** Who may start now, and in which order: `all`, as the plan has it, or chain after chain. */
export type Allotment =
  | { is: 'all' }
  /** `places`: the orders of the chains that the credits carry, the first chain first. Others that would spend wait. */
  | { is: 'chains'; places: ReadonlyMap<string, number> };

/**
 * Where the credits carry everything, the order does not matter to them. Where they do not, or where nobody knows, what
 * has been started is finished before more is started: an output that people want, with all that it still needs, before
 * another one. Outputs of one row stand together, so that a product is complete early. Pure.
 *
 * @param open what is still to be bought, in topological order
 * @param ends in the order in which they are wanted
 */
export function allot(open: ReadonlyMap<string, StepOrder>, ends: readonly StepOrder[], means: Means): Allotment {
  const { left, priceOf } = means;
  if (left === Number.POSITIVE_INFINITY) return { is: 'all' };
  const known = [...open.values()].map(priceOf);
  // A price that nobody knows is taken for the highest that is known.
  const guess = known.reduce<number>((most, price) => Math.max(most, price ?? 0), 1);
  const costOf = (order: StepOrder) => priceOf(order) ?? guess;
  const total = known.reduce<number>((sum, price) => sum + (price ?? guess), 0);
  if (total <= left && !known.includes(null)) return { is: 'all' };
  // What is taken for too little now may carry the next product in a moment: then a later one does not get it.
  const isSure = !known.includes(null) && means.isMoving !== true;
  const places = new Map<string, number>();
  let room = left;
  for (const end of ends) {
    const chain = chainOf(end, open, places);
    const cost = chain.reduce((sum, order) => sum + costOf(order), 0);
    if (cost > room && !isSure) break;
    if (cost > room) continue;
    room -= cost;
    const place = places.size;
    for (const { address } of chain) places.set(address, place);
  }
  return { is: 'chains', places };
}

/** An end and all that it still needs, but for what another chain buys. */
function chainOf(
  end: StepOrder,
  open: ReadonlyMap<string, StepOrder>,
  others: ReadonlyMap<string, number>,
): StepOrder[] {
  const chain = new Map<string, StepOrder>();
  const stack = open.has(end.address) ? [end] : [];
  for (let order = stack.pop(); order !== undefined; order = stack.pop()) {
    if (chain.has(order.address) || others.has(order.address)) continue;
    chain.set(order.address, order);
    for (const address of order.needs) {
      const need = open.get(address);
      if (need !== undefined) stack.push(need);
    }
  }
  return [...chain.values()];
}

/** Whether a run pays for it. What shares a job, or has one, is free. */
export function isBought({ action, jobId, sharesJobOf, asksOnly }: StepOrder): boolean {
  return isSpending(action) && jobId === undefined && sharesJobOf === undefined && !asksOnly;
}

/** What nothing else of this run is made from, row by row: rows in the order in which their first step stands. */
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
