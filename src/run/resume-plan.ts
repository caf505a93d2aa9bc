import type { Lock } from '../lock/record.ts';
import { spentCredits } from '../lock/spent.ts';
import { isSpending } from '../plan/actions.ts';
import { agreementOf } from '../plan/agreement.ts';
import { leftUnder, shareOf, withMargin } from '../plan/ceiling.ts';
import { heldPurchases, sumHeld } from '../plan/held.ts';
import { findLostPrices } from '../plan/lost-prices.ts';
import type { SendFacts } from '../plan/open-sends.ts';
import { orderId, type Plan, type PlanRow, type PlanTotals, type Price, type StepOrder } from '../plan/plan.ts';
import { heldWhereUnpriced, type PriceOf, pricesFrom, type WrittenPrices } from '../plan/prices.ts';
import { sumDoubts } from '../plan/sum-up.ts';
import { resumeOrder } from './resume-order.ts';
import type { StepEnd } from './step-end.ts';

export interface ResumeFacts extends SendFacts {
  /** The lock as it was when the plan was made, and as it is now. */
  before: Lock;
  lock: Lock;
  /** Prices that the manifest tells. */
  prices: WrittenPrices;
  /** How orders have ended, by id, as far as that is on record. */
  ends: ReadonlyMap<string, StepEnd>;
}

/** Rest of a plan that somebody else has begun. */
export interface ResumedPlan {
  /** All of its rows, with what is left of their orders, and totals as of now. */
  plan: Plan;
  /** All orders that have ended, by id. */
  ends: Map<string, StepEnd>;
  /** Those among them that are not on record yet. */
  newEnds: Map<string, StepEnd>;
  /** Credits that the run has been charged so far. */
  spentBefore: number;
  /** The same for orders that go on, by id. */
  spent: ReadonlyMap<string, number | null>;
  /** Charges of this run's jobs so far, with the price that the plan said. */
  charges: readonly { price: Readonly<Price>; charged: number | null }[];
  /** Highest charge in this run, by price class. */
  learned: ReadonlyMap<string, number>;
}

/**
 * Takes up a plan where others have left it. Spent and held never come to more than the plan's caps, however often that
 * happens: what they were charged counts, and what they may have been charged is held.
 */
export function resumePlan(plan: Plan, facts: ResumeFacts): ResumedPlan {
  const { before, lock } = facts;
  const ends = new Map(facts.ends);
  const newEnds = new Map<string, StepEnd>();
  const spent = new Map<string, number | null>();
  const learned = new Map<string, number>();
  const charges: { price: Readonly<Price>; charged: number | null }[] = [];
  const rows = plan.rows.map((row): PlanRow => {
    const { order } = row;
    if (order === undefined) return row;
    const name = orderId(order);
    learn(learned, order, facts);
    charges.push(...chargesOf(order, facts));
    if (ends.has(name)) return row;
    const resumed = resumeOrder(
      order,
      { before: before.steps.get(order.address), record: lock.steps.get(order.address) },
      facts,
    );
    if ('end' in resumed) {
      ends.set(name, resumed.end);
      newEnds.set(name, resumed.end);
      return row;
    }
    if (resumed.spent !== 0) spent.set(name, resumed.spent);
    return { ...row, order: resumed.order };
  });
  const open = rows.filter(({ order }) => order !== undefined && !ends.has(orderId(order)));
  const { totals, spentBefore } = sumAgain(plan.totals, open, facts);
  const ceiling = leftUnder(agreementOf(plan), { rows: open }, lock) + agreedSince(plan.rows, learned); // I39 (resumed)
  return {
    plan: { ...plan, rows, totals: { ...totals, ceiling } },
    ends,
    newEnds,
    spentBefore,
    spent,
    charges,
    learned,
  };
}

/** Learns the price of a class from what was charged since the plan was made. */
function learn(learned: Map<string, number>, { address, key, price }: StepOrder, { before, lock }: ResumeFacts): void {
  const known = new Set(before.steps.get(address)?.purchases.map(({ jobId }) => jobId));
  for (const { jobId, credits = 0, ...purchase } of lock.steps.get(address)?.purchases ?? []) {
    if (jobId === undefined || known.has(jobId) || purchase.key !== key || credits === 0) continue;
    learned.set(price.class, Math.max(credits, learned.get(price.class) ?? 0));
  }
}

function chargesOf({ address, price, asksOnly, sharesJobOf }: StepOrder, { before, lock }: ResumeFacts) {
  if (asksOnly || sharesJobOf !== undefined) return [];
  const known = new Set(before.steps.get(address)?.purchases.map(({ jobId }) => jobId));
  const made = lock.steps.get(address)?.purchases ?? [];
  const fresh = made.filter(({ jobId }) => jobId !== undefined && !known.has(jobId));
  return fresh.map(({ credits }) => ({ price, charged: credits ?? null }));
}

/** Credits agreed to for purchases that nobody could estimate, when the first of their price was charged. */
function agreedSince(rows: readonly PlanRow[], learned: ReadonlyMap<string, number>): number {
  const unpriced = rows.flatMap(({ order, action }) =>
    order !== undefined && isSpending(action) && shareOf(order.price) === undefined ? [order.price.class] : [],
  );
  return withMargin(unpriced.reduce((sum, name) => sum + (learned.get(name) ?? 0), 0));
}

function sumAgain(
  totals: PlanTotals,
  open: readonly PlanRow[],
  { before, lock, prices }: ResumeFacts,
): { totals: PlanTotals; spentBefore: number } {
  const { budget, maxCredits } = totals;
  const priceOf = withNamed(pricesFrom(lock, prices), open);
  const asked = new Set(open.flatMap(({ order }) => (order?.send === undefined ? [] : [order.send.id])));
  const held = [...heldPurchases(lock, priceOf, asked)];
  const graph = { budget };
  const spending = open.filter(({ action, order }) => isSpending(action) && order?.jobId === undefined);
  const lostPrices = findLostPrices({ lock, graph }, { held: sumHeld(held), priceOf, asked, rows: spending });
  const alreadyPaid = spentCredits(lock);
  const spentBefore = alreadyPaid - spentCredits(before);
  const { lostPrices: _lost, budgetLeft: _left, maxCredits: _most, ...same } = totals;
  const { heldUnpriced = heldWhereUnpriced(lock, prices) } = totals;
  const sum = sumDoubts({ held, lostPrices, heldUnpriced }, budget ?? maxCredits);
  const left = maxCredits === undefined ? undefined : maxCredits - spentBefore - Math.max(0, sum - totals.held);
  const budgetLeft = budget === undefined ? undefined : Math.max(0, budget - alreadyPaid - sum);
  return {
    spentBefore,
    totals: {
      ...same,
      alreadyPaid,
      held: sum,
      ...(budgetLeft !== undefined && { budgetLeft }),
      ...(lostPrices.length > 0 && { lostPrices }),
      ...(left !== undefined && { maxCredits: Math.max(0, left) }),
    },
  };
}

/** Adds to the prices what lists named when the plan was made. */
function withNamed(priceOf: PriceOf, rows: readonly PlanRow[]): PriceOf {
  const named = new Map(
    rows.flatMap(({ order }) => (order?.price.held === undefined ? [] : [[order.price.class, order.price.held]])),
  );
  return (kind, request) => {
    const price = priceOf(kind, request);
    const held = price.held ?? named.get(price.class);
    return price.credits === null && held !== undefined ? { ...price, held } : price;
  };
}
