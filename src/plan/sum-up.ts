import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { spentCredits } from '../lock/spent.ts';
import { sumAfterPicks } from './block-at-gates.ts';
import type { Held } from './held.ts';
import type { PlanRow, PlanTotals } from './plan.ts';
import { countPosts } from './post-consent.ts';
import { sumPrices } from './sum-prices.ts';

interface Means {
  graph: Pick<Graph, 'budget'>;
  lock: Lock;
  maxCredits?: number;
}

/** What the rows of a plan come to. */
export function sumUp(
  rows: PlanRow[],
  means: Means,
  { held, lostPrices }: { held: Held; lostPrices: string[] },
): PlanTotals {
  const { graph, lock, maxCredits } = means;
  const { budget } = graph;
  const afterPicks = sumAfterPicks(rows);
  return {
    ...sumPrices(rows),
    ...(afterPicks !== undefined && { afterPicks }),
    alreadyPaid: spentCredits(lock),
    held: held.credits,
    ...(budget !== undefined && { budget, budgetLeft: budgetCap(means, { held, lostPrices }) }),
    ...(lostPrices.length > 0 && { lostPrices: [...lostPrices] }),
    ...(maxCredits !== undefined && { maxCredits }),
    ...countPosts(rows),
  };
}

/**
 * Returns what the budget leaves: nothing while a possible charge has an unknown price that this plan cannot find out.
 */
export function budgetCap({ graph, lock }: Means, { held, lostPrices }: { held: Held; lostPrices: string[] }): number {
  if (graph.budget === undefined) return Number.POSITIVE_INFINITY;
  if (held.unknownPrices > lostPrices.length) return 0;
  // A lost create has cost at least one credit, if it was charged at all.
  return Math.max(0, graph.budget - spentCredits(lock) - held.credits - lostPrices.length);
}
