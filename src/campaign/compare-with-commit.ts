import { systemClock } from '../contract/clock.ts';
import { orFailure } from '../contract/failure.ts';
import { findMergeBase } from '../disk/git/repository.ts';
import { defined } from '../ground/values.ts';
import { type LockReading, readLock as readLockBytes } from '../lock/read.ts';
import { assemblePlan } from '../plan/assemble.ts';
import { type Comparison, compareVersions } from '../plan/compare/compare-versions.ts';
import type { PlanTotals } from '../plan/plan.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import { type Situation, situate, withFiles } from '../plan/situation/situation.ts';
import { type CheckedGraph, graphOf } from './checked-graph.ts';
import { type Cost, type CostOptions, sumUpCost } from './cost.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { Campaign } from './plan.ts';
import { findPriceHints } from './price-hints.ts';
import { readCommittedCampaign } from './read-committed.ts';
import { Session } from './session.ts';

/** Changes of the working tree relative to a commit. */
export interface CommitComparison extends Comparison {
  campaign: string;
  ref: string;
  commit: string;
  /** The remaining budget, and whether it covers the remaining purchases. Omitted without a budget or purchases. */
  fit?: { left: number } & NonNullable<PlanTotals['fit']>;
}

/** Compares the working tree with a commit. Checks nothing out, and sends no request. */
export async function compareWithCommit(
  campaign: OpenCampaign,
  { graph, origins, facts }: CheckedGraph,
  { ref, serviceMoved }: { ref: string; serviceMoved?: boolean | undefined },
): Promise<CommitComparison> {
  const { lock, situation } = await Session.open(campaign, { graph, service: campaign.service, serviceMoved });
  const there = await readCommittedCampaign(campaign, ref);
  const { commit, repository } = there;
  if (there.isAbsent && lock.steps.size > 0) {
    campaign.tell({ is: 'notice', text: `the lock is not in ${ref}: nothing counts as bought there` });
  }
  const base = await findMergeBase(repository, commit, 'HEAD');
  if (base !== undefined && base !== commit) {
    const text = `${ref} has commits that are not here, which show as undone; compare with ${base.slice(0, 12)}, where the branches parted, to leave them out`;
    campaign.tell({ is: 'notice', text });
  }
  const matches = [...situation.matches, ...situate(there.graph, lock).matches];
  const everything = new Set(matches.map(({ step }) => step.address));
  const hints = await findPriceHints(campaign, { graph, lock, matches, redo: everything, facts });
  const fit = fitOf(campaign, situation, hints);
  const compared = compareVersions(there, { graph, lock, origins }, { hints });
  return { campaign: graph.name, ref, commit, ...compared, ...defined({ fit }) };
}

/** Returns how the budget covers the campaign in the working tree. Ignores files on disk, because they cost nothing. */
function fitOf(
  { replays, accountOf }: Pick<OpenCampaign, 'replays' | 'accountOf'>,
  situation: Situation,
  hints: PriceHints,
): CommitComparison['fit'] {
  const { totals } = assemblePlan({
    situation: withFiles(situation, { fileState: () => 'intact' }),
    hints,
    replays,
    accountOf,
    now: systemClock.now(),
    concurrency: 1,
  });
  const { budgetLeft: left, fit } = totals;
  return fit === undefined || left === undefined ? undefined : { left, ...fit };
}

/**
 * Compares a loaded campaign with a commit: steps, credits, purchases, and paid work that would be discarded. Reads
 * git's objects: nothing is checked out, sent or written. Throws when either side has mistakes.
 */
export async function compare(campaign: Campaign, ref: string): Promise<CommitComparison> {
  return orFailure(compareWithCommit(campaign, checkedOf(campaign), { ref }));
}

/** Sums the credits of the campaign by purpose. Sends no request, and writes nothing. */
export async function cost(campaign: Campaign, options: CostOptions = { by: ['task'] }): Promise<Cost> {
  return orFailure(sumUpCost(campaign, checkedOf(campaign).graph, options));
}

/**
 * Reads a lock whose lines may be in any order, with duplicates, CRLF, a byte order mark or merge conflict markers.
 * `file` is its path, for messages. Mistakes are in `diagnostics`.
 */
export function readLock(file: string, bytes: Uint8Array): LockReading {
  return readLockBytes(file, bytes);
}

function checkedOf(campaign: Campaign) {
  return graphOf(campaign.checked, campaign, campaign.checked);
}
