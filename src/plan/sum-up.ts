import type { Graph } from '../graph/graph.ts';
import { defined } from '../ground/values.ts';
import type { Lock, Purchase, StepRecord } from '../lock/record.ts';
import { chargeName, chargesByJob, closedSends, mayBeCharged, spentCredits } from '../lock/sends.ts';
import { isSpending, publishes } from './actions.ts';
import type { Row } from './plan.generated.ts';
import type { PlanRow, PlanTotals, Price } from './plan.ts';
import { ceilingOfRows, type PriceOf } from './prices/prices.ts';

interface Means {
  graph: Pick<Graph, 'budget'>;
  lock: Lock;
  maxCredits?: number;
  account?: { limit?: PlanTotals['limit'] };
}

export interface Doubts {
  held: readonly HeldPurchase[];
  heldUnpriced: number;
}

export function sumUp(rows: PlanRow[], means: Means, doubts: Doubts): PlanTotals {
  const { graph, lock, maxCredits, account: { limit } = {} } = means;
  const { budget } = graph;
  const guessed = describeGuesses(doubts, budget);
  const isUnpriced = rows.some(
    ({ price }) => price !== undefined && price.credits === null && price.held === undefined,
  );
  const isGuess = guessed !== undefined || (isUnpriced && (budget ?? maxCredits ?? limit) !== undefined);
  return {
    ...sumRows(rows),
    alreadyPaid: spentCredits(lock),
    held: sumDoubts(doubts, budget),
    ...(isGuess && { heldUnpriced: doubts.heldUnpriced }),
    ...defined({ afterPicks: sumAfterPicks(rows), guessed, maxCredits, limit }),
    ...defined({ budget, budgetLeft: budgetCap(means, doubts) }),
  };
}

export function sumAgain(totals: PlanTotals, rows: readonly PlanRow[]): PlanTotals {
  const { posts: _posts, mayRetry: _mayRetry, estimate: _estimate, ...rest } = totals;
  return { ...rest, ...sumRows(rows) };
}

function sumRows(rows: readonly PlanRow[]): PriceTotals & Pick<PlanTotals, 'posts'> {
  const posts = rows.filter(publishes).length;
  return { ...sumPrices(rows), ...(posts > 0 && { posts }) };
}

export function budgetCap({ graph, lock }: Means, doubts: Doubts): number | undefined {
  if (graph.budget === undefined) return undefined;
  return Math.max(0, graph.budget - spentCredits(lock) - sumDoubts(doubts, graph.budget));
}

export function sumDoubts(doubts: Doubts, budget: number | undefined): number {
  const { credits, unknownPrices } = sumHeld(doubts.held);
  return credits + (budget === undefined ? 0 : unknownPrices * doubts.heldUnpriced);
}

/**
 * Describes the possible charges whose price is unknown, and for which the budget assumes a price. Returns `undefined`
 * if every price is known.
 */
export function describeGuesses({ held }: Pick<Doubts, 'held'>, budget: number | undefined): PlanTotals['guessed'] {
  const guessed = budget === undefined ? [] : held.filter(({ credits }) => credits === null);
  if (guessed.length === 0) return undefined;
  return guessed.map(({ record, purchase, price }) => ({
    address: record.address,
    class: price?.class ?? purchase.kind ?? record.kind,
  }));
}

type PriceTotals = Pick<
  PlanTotals,
  'toSpend' | 'ceiling' | 'knownPrices' | 'unknownPrices' | 'discarded' | 'mayRetry' | 'estimate'
>;

export function sumPrices(rows: readonly Row[]): PriceTotals {
  const sum = (pick: (row: Row) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const estimate = estimateOf(rows);
  return {
    toSpend: estimate === undefined ? 0 : estimate.unpriced > 0 ? null : estimate.likely,
    ceiling: ceilingOfRows(rows),
    knownPrices: sum(({ credits }) => credits ?? 0),
    unknownPrices: sum(({ credits }) => (credits === null ? 1 : 0)),
    discarded: sum(({ discards }) => discards ?? 0),
    ...(rows.some(({ mayRetry }) => mayRetry !== undefined) && { mayRetry: sum(({ mayRetry }) => mayRetry ?? 0) }),
    ...defined({ estimate }),
  };
}

function estimateOf(rows: readonly Row[]): PlanTotals['estimate'] {
  const spending = rows.filter(({ action, credits }) => isSpending(action) && credits !== 0);
  if (spending.length === 0) return undefined;
  const sources: NonNullable<PlanTotals['estimate']>['sources'] = {};
  const total = { low: 0, likely: 0, high: 0 as number | null, unpriced: 0, sources };
  for (const { credits, price } of spending) {
    const { source = 'unknown' } = price ?? {};
    sources[source] = (sources[source] ?? 0) + 1;
    const likely = price?.likely ?? credits;
    if (likely === null) {
      total.unpriced += 1;
      total.high = null;
      continue;
    }
    const high = price?.high ?? credits;
    total.low += price?.low ?? likely;
    total.likely += likely;
    total.high = total.high === null || high === null ? null : total.high + high;
  }
  return total;
}

export function sumLater(
  rows: readonly Pick<PlanRow, 'wouldCost' | 'price'>[],
): Pick<NonNullable<PlanTotals['afterPicks']>, 'credits' | 'unknownPrices' | 'likely' | 'unpriced'> {
  const credits = rows.reduce((sum, { wouldCost }) => sum + (wouldCost ?? 0), 0);
  const unknown = rows.filter(({ wouldCost }) => wouldCost === null);
  const likely = credits + unknown.reduce((sum, { price }) => sum + (price?.likely ?? 0), 0);
  const unpriced = unknown.filter(({ price }) => price?.likely === undefined).length;
  return { credits, unknownPrices: unknown.length, likely, unpriced };
}

export function sumAfterPicks(
  rows: readonly Pick<PlanRow, 'blockedBy' | 'wouldCost' | 'wouldRetry' | 'price'>[],
): PlanTotals['afterPicks'] {
  const waiting = rows.filter(({ blockedBy }) => blockedBy === 'gate');
  if (waiting.length === 0) return undefined;
  const retried = waiting.flatMap(({ wouldRetry }) => (wouldRetry === undefined ? [] : [wouldRetry ?? 0]));
  const mayRetry = retried.reduce((sum, more) => sum + more, 0);
  return { steps: waiting.length, ...sumLater(waiting), ...(retried.length > 0 && { mayRetry }) };
}

/**
 * Sums the possible charges: unresolved create requests, and jobs whose charge the service did not report. For an
 * unknown price, the highest known price of the kind is added. `asked`: unresolved create requests to exclude, because
 * the plan already reserves their prices.
 */
export function heldCredits(lock: Lock, priceOf: PriceOf, asked: ReadonlySet<string> = new Set()) {
  return sumHeld([...heldPurchases(lock, priceOf, asked)]);
}

function sumHeld(purchases: readonly HeldPurchase[]): { credits: number; unknownPrices: number } {
  return {
    credits: purchases.reduce((sum, { credits }) => sum + (credits ?? 0), 0),
    unknownPrices: purchases.filter(({ credits }) => credits === null).length,
  };
}

/** Possible charge. `name`: ID of the create request, or charge name of the job. */
interface HeldPurchase {
  name: string;
  record: StepRecord;
  purchase: Purchase;
  price?: Readonly<Price>;
  credits: number | null;
}

export function* heldPurchases(
  lock: Lock,
  priceOf: PriceOf,
  asked: ReadonlySet<string> = new Set(),
): Generator<HeldPurchase> {
  const seen = new Set<string>([...asked, ...closedSends(lock), ...chargesByJob(lock).keys()]);
  for (const record of lock.steps.values()) {
    const { kind, purchases } = record;
    for (const purchase of purchases) {
      const { request = purchases[0]?.request } = purchase;
      if (purchase.state === 'refused') continue;
      // A job that several steps share is one charge. Each create request is one charge, even with equal keys.
      const name = mayBeCharged(purchase) ? purchase.send : chargeName(purchase); // I22
      if (seen.has(name)) continue;
      seen.add(name);
      const price = request === undefined ? undefined : priceOf(purchase.kind ?? kind, request);
      const credits = price?.credits ?? price?.held ?? null; // I14 (held)
      yield { name, record, purchase, ...defined({ price }), credits };
    }
  }
}
