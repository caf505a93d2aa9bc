import { isSpending } from './actions.ts';
import { isNamedAfterPicks } from './block-at-gates.ts';
import type { LaterPurchase, Purchases, Row } from './plan.generated.ts';
import type { Plan, PlanRow, Price, Retries } from './plan.ts';
import { ceilingOf, isWithin } from './prices.ts';

/** What somebody said yes to: what may be bought, each at what price, and how much all of it may be charged. */
export interface Agreement {
  /** All that may be bought, by address, with the price of one purchase; `null`: unknown. */
  purchases: ReadonlyMap<string, Purchases & { credits: number | null }>;
  /** What may be bought when gates are decided, by address. */
  afterPicks: ReadonlyMap<string, LaterPurchase>;
  /** Rows as they were shown, by address. */
  shown: ReadonlyMap<string, Row>;
  /** Open sends that are asked about beside the steps. */
  sends: ReadonlySet<string>;
  /** Credits that the purchases of its rows may come to, retries aside; what nobody can estimate is in none of it. */
  ceiling: number;
}

export function agreementOf({ rows, totals }: Plan): Agreement {
  const bought = rows.flatMap((row): [string, Purchases][] => {
    const named = purchasesOf(row);
    return named === undefined ? [] : [[row.address, named]];
  });
  const later = rows.flatMap((row) => (row.later === undefined ? [] : [[row.address, row.later] as const]));
  const { ceiling = totals.toSpend } = totals;
  return agreementFrom(rows, { purchases: Object.fromEntries(bought), afterPicks: Object.fromEntries(later), ceiling });
}

/** The agreement to rows as they were shown, and to what was written down beside them. */
export function agreementFrom(
  rows: readonly Row[],
  said: {
    purchases: { readonly [address: string]: Purchases };
    afterPicks: { readonly [address: string]: LaterPurchase };
    ceiling: number;
  },
): Agreement {
  const shown = new Map(rows.flatMap((row) => (row.send === undefined ? [[row.address, row] as const] : [])));
  const priceOf = (address: string, { repeat }: Purchases) =>
    (repeat === undefined ? shown.get(address)?.mayRetry : shown.get(address)?.credits) ?? null;
  return {
    shown,
    ceiling: said.ceiling,
    afterPicks: new Map(Object.entries(said.afterPicks)),
    purchases: new Map(
      Object.entries(said.purchases).map(([address, one]) => [address, { ...one, credits: priceOf(address, one) }]),
    ),
    sends: new Set(rows.flatMap(({ send }) => send ?? [])),
  };
}

/** All that a row may buy. */
export function purchasesOf({ action, order }: PlanRow): Purchases | undefined {
  if (order === undefined || order.asksOnly === true) return undefined;
  const { fingerprint, repeat, retries } = order;
  const buys = isSpending(action);
  if (!buys && retries === undefined) return undefined;
  return { fingerprint, ...(buys && { repeat }), ...(retries !== undefined && { retries: repeatsOf(retries) }) };
}

/** The purchases that may follow when jobs fail. */
function repeatsOf({ repeat, left }: Retries): number[] {
  return Array.from({ length: left }, (_, index) => repeat + index);
}

/** Whether the agreement says all that this row may buy: the purchase, and those that `retry:` lets follow it. */
export function covers(agreement: Agreement, row: PlanRow): boolean {
  const { address, kind, action, credits, mayRetry, order } = row;
  if (order === undefined) return true;
  if (order.asksOnly) return order.send !== undefined && agreement.sends.has(order.send.id);
  const later = agreement.afterPicks.get(address);
  const shown = agreement.shown.get(address);
  const isUnderCeiling = (credits ?? 0) <= (ceilingIn(shown) ?? Number.POSITIVE_INFINITY);
  if (later !== undefined) {
    const { wouldCost = 0, wouldRetry = 0 } = shown ?? {};
    return shown?.kind === kind && isUnderCeiling && isNamedAfterPicks(row, { later, wouldCost, wouldRetry });
  }
  const named = agreement.purchases.get(address);
  const { repeat, retries = [], credits: price } = named?.fingerprint === order.fingerprint ? named : nothing;
  if (named !== undefined && shown?.kind !== kind) return false;
  if (order.retries !== undefined) {
    if (!repeatsOf(order.retries).every((one) => retries.includes(one))) return false;
    if (!isWithin(mayRetry ?? null, shown?.mayRetry ?? null)) return false;
  }
  if (!isSpending(action)) return true;
  // After a job that failed; or such a purchase has begun already, and its answer was lost or a refusal.
  const mayFollow = action === 'retry' || order.send !== undefined || order.refused > 0;
  if (order.repeat !== repeat && !(mayFollow && retries.includes(order.repeat))) return false;
  return isWithin(credits, price) && isUnderCeiling;
}

const nothing = { repeat: undefined, retries: [], credits: 0 };

/** The most that a row whose price nobody knew was to cost by the service's list; `undefined`: it does not say. */
function ceilingIn(shown: Row | undefined): number | undefined {
  const credits = shown?.blockedBy === 'gate' ? shown.wouldCost : shown?.credits;
  return credits === null && shown?.price?.source === 'list' ? shown.price.high : undefined;
}

/**
 * Holds what is bought to the ceilings of single prices that were shown: they were agreed to, and whoever carries the
 * plan out may have other lists of the service, or none. Only ever lowers them.
 */
export function holdToCeilings(agreement: Agreement, plan: Plan): void {
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
