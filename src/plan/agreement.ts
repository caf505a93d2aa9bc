import { isSpending, publishes } from './actions.ts';
import type { LaterPurchase, Purchases, Row } from './plan.generated.ts';
import type { Plan, PlanRow, Price, StepOrder } from './plan.ts';
import { ceilingOf, isWithin } from './prices/prices.ts';
import { sumPrices } from './prices/sum-prices.ts';

/** All that somebody said yes to: what may be bought, each at what price, and how much all of it may be charged. */
export interface Agreement {
  /** All that may be bought, by address, with the price of one purchase; `null`: unknown. */
  purchases: ReadonlyMap<string, Purchases & { credits: number | null }>;
  /** Purchases that may be made when gates are decided, by address. */
  afterPicks: ReadonlyMap<string, LaterPurchase>;
  /** Rows as they were shown, by address. */
  shown: ReadonlyMap<string, Row>;
  /** Open sends that are asked about beside the steps. */
  sends: ReadonlySet<string>;
  /** Posts that may go out, by address. */
  publishes: ReadonlySet<string>;
  /** Credits that the purchases of its rows may come to, retries aside; what nobody can estimate is in none of it. */
  ceiling: number;
}

export function agreementOf(plan: Plan): Agreement {
  return agreementFrom(plan.rows, { ...namedBy(plan), ceiling: plan.totals.ceiling });
}

/** Lists what somebody who says yes to a plan says yes to, as it is written down beside its rows. */
export function namedBy({ rows }: Pick<Plan, 'rows'>) {
  const bought = rows.flatMap((row): [string, Purchases][] => {
    const named = purchasesOf(row);
    return named === undefined ? [] : [[row.address, named]];
  });
  const later = rows.flatMap((row) => (row.later === undefined ? [] : [[row.address, row.later] as const]));
  return {
    purchases: Object.fromEntries(bought),
    afterPicks: Object.fromEntries(later),
    publishes: rows.filter(publishes).map(({ address }) => address),
  };
}

/** The agreement to rows as they were shown, and to what was written down beside them. */
export function agreementFrom(
  rows: readonly Row[],
  said: {
    purchases: { readonly [address: string]: Purchases };
    afterPicks: { readonly [address: string]: LaterPurchase };
    publishes: readonly string[];
    ceiling: number;
  },
): Agreement {
  const shown = new Map(rows.flatMap((row) => (row.send === undefined ? [[row.address, row] as const] : [])));
  const priceOf = (address: string, { repeat }: Purchases) =>
    (repeat === undefined ? shown.get(address)?.mayRetry : shown.get(address)?.credits) ?? null;
  return {
    shown,
    ceiling: said.ceiling,
    publishes: new Set(said.publishes),
    afterPicks: new Map(Object.entries(said.afterPicks)),
    purchases: new Map(
      Object.entries(said.purchases).map(([address, one]) => [address, { ...one, credits: priceOf(address, one) }]),
    ),
    sends: new Set(rows.flatMap(({ send }) => send ?? [])),
  };
}

function purchasesOf({ action, order }: PlanRow): Purchases | undefined {
  if (order === undefined || order.asksOnly === true) return undefined;
  const { fingerprint, repeat, retries } = order;
  const buys = isSpending(action);
  if (!buys && retries === undefined) return undefined;
  return {
    fingerprint,
    ...(buys && { repeat }),
    ...(retries !== undefined && { retries: countFrom(retries.repeat, retries.left) }),
  };
}

function countFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Returns what is said of a step: its one purchase, those that may follow when jobs fail, and the price of each. */
function saidOf({ purchases, afterPicks, shown }: Agreement, address: string, { fingerprint }: StepOrder) {
  const { wouldCost = 0, wouldRetry = 0, mayRetry: retryPrice = null } = shown.get(address) ?? {};
  const later = afterPicks.get(address);
  if (later !== undefined) {
    const { generation: first, retries = 0 } = later;
    return { first, following: countFrom(first + 1, retries), price: wouldCost, retryPrice: wouldRetry };
  }
  const named = purchases.get(address);
  if (named?.fingerprint !== fingerprint) return { first: undefined, following: [], price: 0, retryPrice };
  return { first: named.repeat, following: named.retries ?? [], price: named.credits, retryPrice };
}

/** Whether the agreement says all that this row may buy: the purchase, and those that `retry:` lets follow it. */
export function covers(agreement: Agreement, row: PlanRow): boolean {
  const { address, kind, action, credits, mayRetry = null, order } = row;
  if (order === undefined) return true;
  if (order.asksOnly) return order.send !== undefined && agreement.sends.has(order.send.id);
  const { afterPicks, purchases, shown } = agreement;
  const isLater = afterPicks.has(address);
  if ((isLater || purchases.has(address)) && shown.get(address)?.kind !== kind) return false;
  const { first, following, price, retryPrice } = saidOf(agreement, address, order);
  // Purchases are counted by request; those after a pick by step, because nobody knew what the request would be.
  const numberOf = (one: { generation: number; repeat: number }) => (isLater ? one.generation : one.repeat);
  if (order.retries !== undefined) {
    if (!countFrom(numberOf(order.retries), order.retries.left).every((one) => following.includes(one))) return false;
    if (!isWithin(mayRetry, retryPrice)) return false;
  }
  if (!isSpending(action)) return true;
  // After a job that failed; or such a purchase has begun already, and its answer was lost or a refusal.
  const mayFollow = action === 'retry' || order.send !== undefined || order.refused > 0;
  const number = numberOf(order);
  if (number !== first && !(mayFollow && following.includes(number))) return false;
  // After a pick the ceiling of a list is what was shown.
  const most = isLater ? (credits ?? ceilingOf(order.price) ?? null) : credits;
  return isWithin(most, price) && (credits ?? 0) <= (ceilingIn(shown.get(address)) ?? Number.POSITIVE_INFINITY);
}

/** Says in words what of the plan the agreement does not cover. Undefined: all is covered. */
export function findUncovered(agreement: Agreement, { rows }: Plan): { text: string; addresses: string[] } | undefined {
  const others = rows.filter((row) => !covers(agreement, row));
  const [first] = others;
  if (first === undefined) return undefined;
  const price = first.credits === null ? 'at an unknown price' : `for ${first.credits}`;
  const more = others.length === 1 ? '' : `, and ${others.length - 1} more`;
  const what = isSpending(first.action) ? `would be bought now ${price}` : 'would be bought again if its job fails';
  const text = `${first.address} ${what} (${first.reason.text})${more}, which is not what it says`;
  return { text, addresses: others.map(({ address }) => address) };
}

/** Finds purchases that an approval names but its rows do not show: its reader approved something else. */
export function findHidden({ purchases, afterPicks, publishes: named, shown }: Agreement): string | undefined {
  const isBought = (row: Row | undefined) => row !== undefined && isSpending(row.action);
  for (const [address, { repeat, retries }] of purchases) {
    const row = shown.get(address);
    if (repeat !== undefined && !isBought(row)) return `it buys ${address}, and its rows do not say so`;
    if (retries !== undefined && row?.mayRetry === undefined) {
      return `it buys ${address} again, and its rows do not say so`;
    }
  }
  for (const [address, { retries }] of afterPicks) {
    const row = shown.get(address);
    const shows = row?.blockedBy === 'gate' && row.wouldCost !== undefined;
    if (!shows || (retries !== undefined && row.wouldRetry === undefined)) {
      return `it buys ${address} after a pick, and its rows do not say so`;
    }
  }
  const isShown = (row: Row | undefined) => row?.post !== undefined && isBought(row);
  const post = [...named].find((address) => !isShown(shown.get(address)));
  return post === undefined ? undefined : `it publishes ${post}, and its rows do not say so`;
}

/** The most that a row whose price nobody knew was to cost by the service's list; `undefined`: it does not say. */
function ceilingIn(shown: Row | undefined): number | undefined {
  const credits = shown?.blockedBy === 'gate' ? shown.wouldCost : shown?.credits;
  return credits === null && shown?.price?.source === 'list' ? shown.price.high : undefined;
}

/**
 * Where a price was agreed to that nobody could estimate, and that is only expected by now, the purchase goes as it was
 * agreed to: the first alone, and its charge tells of the rest. Counted by the estimate, the ceiling would let none go.
 */
function holdToUnknown({ shown }: Agreement, plan: Plan): void {
  const blind = plan.rows.filter((row) => {
    const said = shown.get(row.address);
    const wasUnknown = said?.credits === null && said.price !== undefined && said.price.likely === undefined;
    return wasUnknown && row.credits === null && row.price?.likely !== undefined;
  });
  if (blind.length === 0) return;
  for (const row of blind) {
    const { class: priceClass, held } = row.order?.price ?? row.price ?? { class: '' };
    const price: Price = { class: priceClass, credits: null, source: 'unknown', ...(held !== undefined && { held }) };
    row.price = price;
    if (row.order !== undefined) row.order.price = price;
  }
  plan.totals = { ...plan.totals, ...sumPrices(plan.rows) };
}

/**
 * Caps single prices at the ceilings that were approved: the process that carries the plan out may have other price lists,
 * or none. Only ever lowers them.
 */
export function holdToCeilings(agreement: Agreement, plan: Plan): void {
  holdToUnknown(agreement, plan);
  const held = new Map<string, Readonly<Price>>();
  for (const { address, order } of plan.rows) {
    const ceiling = ceilingIn(agreement.shown.get(address));
    if (order === undefined || order.price.credits !== null || ceiling === undefined) continue;
    const most = Math.min(ceiling, ceilingOf(order.price) ?? ceiling);
    const name = `${order.price.class} ${most}`;
    const price = held.get(name) ?? { ...order.price, source: 'list', high: most };
    held.set(name, price);
    order.price = price; // I14 (saved)
  }
}
