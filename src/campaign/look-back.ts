import { orFailure } from '../contract/failure.ts';
import { checkCost } from './check-options.ts';
import { graphOf } from './checked-graph.ts';
import { type CommitComparison, compareWithCommit } from './compare-with-commit.ts';
import { type Cost, type CostOptions, sumUpCost } from './cost.ts';
import type { Campaign } from './load.ts';

/**
 * Finds what the campaign, as it was loaded, changes as seen from a commit: steps, credits, purchases, paid work that
 * it gives up. Read from git's objects: nothing is checked out, sent or written. Throws when either side has mistakes.
 */
export async function compare(campaign: Campaign, ref: string): Promise<CommitComparison> {
  return orFailure(compareWithCommit(campaign, checkedOf(campaign), { ref }));
}

/** Sums up what the campaign cost, in credits, and where they went. Sends nothing, and writes nothing. */
export async function cost(campaign: Campaign, options: CostOptions = { by: ['task'] }): Promise<Cost> {
  checkCost(options);
  return orFailure(sumUpCost(campaign, checkedOf(campaign).graph, options));
}

/** The checked graph of a campaign. Throws when it has mistakes. */
function checkedOf(campaign: Campaign) {
  return graphOf(campaign.checked, campaign, campaign.checked);
}
