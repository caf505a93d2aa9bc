import type { Graph } from '../graph/graph.ts';
import { defined } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { spentCredits } from '../lock/spent.ts';
import { sumAfterPicks } from './gates/block-at-gates.ts';
import type { PlanRow, PlanTotals } from './plan.ts';
import { countPosts } from './posts/post-consent.ts';
import { type HeldPurchase, sumHeld } from './prices/held.ts';
import { sumPrices } from './prices/sum-prices.ts';

interface Means {
  graph: Pick<Graph, 'budget'>;
  lock: Lock;
  maxCredits?: number;
  account?: { limit?: PlanTotals['limit'] };
}

export interface Doubts {
  held: readonly HeldPurchase[];
  /** Price classes whose price this plan finds out. */
  lostPrices: readonly string[];
  /** Credits held for each possible charge for which no price of its kind is known. */
  heldUnpriced: number;
}

export function sumUp(rows: PlanRow[], means: Means, doubts: Doubts): PlanTotals {
  const { graph, lock, maxCredits, account: { limit } = {} } = means;
  const { budget } = graph;
  const { lostPrices, heldUnpriced } = doubts;
  const budgetLeft = budgetCap(means, doubts);
  const afterPicks = sumAfterPicks(rows);
  const guessed = budget === undefined ? [] : findGuessed(doubts);
  const isUnpriced = rows.some(
    ({ price }) => price !== undefined && price.credits === null && price.held === undefined,
  );
  const isGuess = guessed.length > 0 || (isUnpriced && (budget ?? maxCredits ?? limit) !== undefined);
  return {
    ...sumPrices(rows),
    ...defined({ afterPicks }),
    alreadyPaid: spentCredits(lock),
    held: sumDoubts(doubts, budget),
    ...(isGuess && { heldUnpriced }),
    ...(guessed.length > 0 && { guessed: guessed.map(describeGuess) }),
    ...(budget !== undefined && budgetLeft !== undefined && { budget, budgetLeft }),
    ...(lostPrices.length > 0 && { lostPrices: [...lostPrices] }),
    ...defined({ maxCredits, limit }),
    ...countPosts(rows),
  };
}

export function budgetCap({ graph, lock }: Means, doubts: Doubts): number | undefined {
  if (graph.budget === undefined) return undefined;
  // A lost create request cost at least one credit, if it was charged.
  const found = doubts.lostPrices.length;
  return Math.max(0, graph.budget - spentCredits(lock) - sumDoubts(doubts, graph.budget) - found);
}

/** Sums the credits held for possible charges, including guessed amounts where a budget counts them. */
export function sumDoubts(doubts: Doubts, budget: number | undefined): number {
  const guessed = budget === undefined ? 0 : findGuessed(doubts).length;
  return sumHeld(doubts.held).credits + guessed * doubts.heldUnpriced;
}

function findGuessed({ held, lostPrices }: Doubts): readonly HeldPurchase[] {
  return lostPrices.length > 0 ? [] : held.filter(({ credits }) => credits === null);
}

function describeGuess({ record, purchase, price }: HeldPurchase): { address: string; class: string } {
  return { address: record.address, class: price?.class ?? purchase.kind ?? record.kind };
}
