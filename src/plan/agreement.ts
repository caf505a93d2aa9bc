import { defined } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { isSpending, publishes } from './actions.ts';
import type { LaterPurchase, Purchases, Row } from './plan.generated.ts';
import type { Plan, PlanRow, Price, StepOrder } from './plan.ts';
import { ceilingOf, isWithin, shareOf } from './prices/prices.ts';
import { repeatOf } from './purchases/key.ts';
import { sumAgain } from './sum-up.ts';

/** A user's approval: the approved purchases, their prices, and the limit of their total charges. */
export interface Agreement {
  /** Approved purchases by address. */
  purchases: ReadonlyMap<string, Purchases>;
  afterPicks: ReadonlyMap<string, LaterPurchase>;
  shown: ReadonlyMap<string, Row>;
  sends: ReadonlySet<string>;
  publishes: ReadonlySet<string>;
  /** Limit in credits for the purchases of the plan's rows, without retries and purchases without an estimate. */
  ceiling: number;
}

export function agreementOf(plan: Plan): Agreement {
  return agreementFrom(plan.rows, { ...namedBy(plan), ceiling: plan.totals.ceiling });
}

/** Lists the purchases and posts that an approval of this plan allows, in the form in which a plan file stores them. */
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

export function agreementFrom(
  rows: readonly Row[],
  said: {
    purchases: { readonly [address: string]: Purchases };
    afterPicks: { readonly [address: string]: LaterPurchase };
    publishes: readonly string[];
    ceiling: number;
  },
): Agreement {
  return {
    shown: new Map(rows.flatMap((row) => (row.send === undefined ? [[row.address, row] as const] : []))),
    ceiling: said.ceiling,
    publishes: new Set(said.publishes),
    afterPicks: new Map(Object.entries(said.afterPicks)),
    purchases: new Map(Object.entries(said.purchases)),
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

/** Returns which numbered purchases of a step are approved, and their approved prices (`null` if unknown). */
function approvedOf({ purchases, afterPicks, shown }: Agreement, address: string, { fingerprint }: StepOrder) {
  const { credits = null, wouldCost = 0, wouldRetry = 0, mayRetry: retryPrice = null } = shown.get(address) ?? {};
  const later = afterPicks.get(address);
  if (later !== undefined) {
    const { generation: first, retries = 0 } = later;
    return { first, following: countFrom(first + 1, retries), price: wouldCost, retryPrice: wouldRetry };
  }
  const named = purchases.get(address);
  if (named?.fingerprint !== fingerprint) return { first: undefined, following: [], price: 0, retryPrice };
  const { repeat: first, retries: following = [] } = named;
  return { first, following, price: first === undefined ? retryPrice : credits, retryPrice };
}

export function covers(agreement: Agreement, row: PlanRow): boolean {
  const { address, kind, action, credits, mayRetry = null, order } = row;
  if (order === undefined) return true;
  if (order.asksOnly) return order.send !== undefined && agreement.sends.has(order.send.id);
  const { afterPicks, purchases, shown } = agreement;
  const isLater = afterPicks.has(address);
  if ((isLater || purchases.has(address)) && shown.get(address)?.kind !== kind) return false;
  const { first, following, price, retryPrice } = approvedOf(agreement, address, order);
  // Purchases are counted by request. Purchases after a pick are counted by step, because their request was unknown.
  const numberOf = (one: { generation: number; repeat: number }) => (isLater ? one.generation : one.repeat);
  if (order.retries !== undefined) {
    if (!countFrom(numberOf(order.retries), order.retries.left).every((one) => following.includes(one))) return false;
    if (!isWithin(mayRetry, retryPrice)) return false;
  }
  if (!isSpending(action)) return true;
  // The purchase may follow a failed job, or a create request that was refused or whose answer was lost.
  const mayFollow = action === 'retry' || order.send !== undefined || order.refused > 0;
  const number = numberOf(order);
  if (number !== first && !(mayFollow && following.includes(number))) return false;
  // For a purchase after a pick, the plan showed the maximum of the price list.
  const most = isLater ? (credits ?? ceilingOf(order.price) ?? null) : credits;
  return isWithin(most, price) && (credits ?? 0) <= (ceilingIn(shown.get(address)) ?? Number.POSITIVE_INFINITY);
}

export function findUncovered(agreement: Agreement, { rows }: Plan): { text: string; addresses: string[] } | undefined {
  const others = rows.filter((row) => !covers(agreement, row));
  const [first] = others;
  if (first === undefined) return undefined;
  const price = first.credits === null ? 'at an unknown price' : `for ${first.credits}`;
  const more = others.length === 1 ? '' : `, and ${others.length - 1} more`;
  const what = isSpending(first.action) ? `would be bought now ${price}` : 'would be bought again if its job fails';
  const text = `${first.address} ${what} (${first.reason.text})${more}, which the plan does not show`;
  return { text, addresses: others.map(({ address }) => address) };
}

/** Describes an approved purchase or post that the rows of an edited plan file do not show. */
export function findHidden({ purchases, afterPicks, publishes: named, shown }: Agreement): string | undefined {
  const isBought = (row: Row | undefined) => row !== undefined && isSpending(row.action);
  for (const [address, { repeat, retries }] of purchases) {
    const row = shown.get(address);
    if (repeat !== undefined && !isBought(row))
      return `the approval includes ${address}, but no row shows this purchase`;
    if (retries !== undefined && row?.mayRetry === undefined) {
      return `the approval includes retries of ${address}, but no row shows them`;
    }
  }
  for (const [address, { retries }] of afterPicks) {
    const row = shown.get(address);
    const shows = row?.blockedBy === 'gate' && row.wouldCost !== undefined;
    if (!shows || (retries !== undefined && row.wouldRetry === undefined)) {
      return `the approval includes ${address} after a pick, but no row shows this purchase`;
    }
  }
  const isShown = (row: Row | undefined) => row?.post !== undefined && isBought(row);
  const post = [...named].find((address) => !isShown(shown.get(address)));
  return post === undefined ? undefined : `the approval publishes ${post}, but no row shows this post`;
}

function ceilingIn(shown: Row | undefined): number | undefined {
  const credits = shown?.blockedBy === 'gate' ? shown.wouldCost : shown?.credits;
  return credits === null && shown?.price?.source === 'list' ? shown.price.high : undefined;
}

/**
 * Removes each estimate that is newer than the approval: the approved limit does not include it and would allow no
 * purchase. Without an estimate, the run buys one step of the price class first, as price probe.
 */
function holdToUnknown({ shown }: Agreement, plan: Plan): Plan {
  let isChanged = false;
  const rows = plan.rows.map((row) => {
    const said = shown.get(row.address);
    const wasUnknown = said?.credits === null && said.price !== undefined && said.price.likely === undefined;
    if (!wasUnknown || row.credits !== null || row.price?.likely === undefined) return row;
    isChanged = true;
    const { class: priceClass, held } = row.order?.price ?? row.price;
    const price: Price = { class: priceClass, credits: null, source: 'unknown', ...defined({ held }) };
    return { ...row, price, ...defined({ order: row.order && { ...row.order, price } }) };
  });
  return isChanged ? { ...plan, rows, totals: sumAgain(plan.totals, rows) } : plan;
}

/** Lowers each price to its approved maximum, because this process may read other price lists than the approval. */
export function holdToCeilings(agreement: Agreement, given: Plan): Plan {
  const plan = holdToUnknown(agreement, given);
  const held = new Map<string, Readonly<Price>>();
  const rows = plan.rows.map((row) => {
    const ceiling = ceilingIn(agreement.shown.get(row.address));
    if (row.order === undefined || row.order.price.credits !== null || ceiling === undefined) return row;
    const order = { ...row.order };
    const most = Math.min(ceiling, ceilingOf(order.price) ?? ceiling);
    const name = `${order.price.class} ${most}`;
    const price = held.get(name) ?? { ...order.price, source: 'list', high: most };
    held.set(name, price);
    order.price = price; // I14 (saved)
    return { ...row, order };
  });
  return { ...plan, rows };
}

/**
 * Returns how many credits of the approved limit are unspent. The limit does not include retries and purchases after
 * picks: of their charges, only the part above the shown price counts against it.
 */
export function leftUnder(agreement: Agreement, { rows }: Pick<Plan, 'rows'>, lock: Lock): number {
  const { purchases, afterPicks, shown, ceiling } = agreement;
  const follows = (address: string, one: Pick<StepOrder, 'fingerprint' | 'generation' | 'repeat'>) => {
    const named = purchases.get(address);
    const first = afterPicks.get(address)?.generation ?? Number.POSITIVE_INFINITY;
    if (named?.fingerprint !== one.fingerprint) return one.generation >= first ? true : undefined;
    if (named.repeat === one.repeat) return false;
    return named.retries?.includes(one.repeat) === true ? true : undefined;
  };
  const share = (address: string, now = 0) => {
    const price = shown.get(address)?.price;
    return (price && shareOf(price)) ?? now;
  };
  let left = ceiling;
  for (const { address, order, credits } of rows) {
    if (order === undefined || order.asksOnly || !isSpending(order.action) || !follows(address, order)) continue;
    left += share(address, credits ?? shareOf(order.price));
  }
  const counted = new Set<string>();
  for (const { address, purchases: made, kind: own } of lock.steps.values()) {
    if (!purchases.has(address) && !afterPicks.has(address)) continue;
    for (const purchase of made) {
      const { jobId, credits = 0, kind = own } = purchase;
      const job = `${kind} ${jobId}`;
      if (jobId === undefined || counted.has(job)) continue;
      const isFurther = follows(address, { ...purchase, repeat: repeatOf(made, purchase) });
      if (isFurther === undefined) continue;
      counted.add(job);
      left -= isFurther ? Math.max(0, credits - share(address, credits)) : credits;
    }
  }
  return Math.max(0, left);
}
