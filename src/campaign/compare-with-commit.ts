import { systemClock } from '../contract/clock.ts';
import { CampaignError, orFailure } from '../contract/failure.ts';
import { findMergeBase } from '../disk/git/repository.ts';
import type { Graph } from '../graph/graph.ts';
import { type LockReading, readLock as readLockBytes } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { assemblePlan } from '../plan/assemble.ts';
import { type Comparison, compareVersions } from '../plan/compare/compare-versions.ts';
import { diffLocks, type LockDiff } from '../plan/compare/diff-locks.ts';
import type { PlanTotals } from '../plan/plan.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import { situate, withFiles } from '../plan/situation/situation.ts';
import { checkCall } from './check-call.ts';
import { checkCost } from './check-options.ts';
import { type CheckedGraph, graphOf } from './checked-graph.ts';
import { type Cost, type CostOptions, sumUpCost } from './cost.ts';
import type { Campaign } from './load.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { findPriceHints } from './price-hints.ts';
import { readCommittedCampaign, readCommittedLock } from './read-committed.ts';
import { requireLock } from './read-lock.ts';
import { requireRestoredLock } from './restore-purchases.ts';

/** Changes of the working tree as seen from a commit. */
export interface CommitComparison extends Comparison {
  campaign: string;
  ref: string;
  /** Full hash. */
  commit: string;
  /** The rest of the budget, and how far it carries what is still to buy here. Absent: no budget, or nothing to buy. */
  fit?: { left: number } & NonNullable<PlanTotals['fit']>;
}

/** Compares the campaign as it lies here with a commit. Checks nothing out, and asks nobody. */
export async function compareWithCommit(
  campaign: OpenCampaign,
  { graph, trace, facts }: CheckedGraph,
  { ref, serviceMoved }: { ref: string; serviceMoved?: boolean | undefined },
): Promise<CommitComparison> {
  const { lock } = await requireRestoredLock(campaign, graph, { service: campaign.service, serviceMoved });
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
  const matches = [...situate(graph, lock).matches, ...situate(there.graph, lock).matches];
  const everything = new Set(matches.map(({ step }) => step.address));
  const hints = await findPriceHints(campaign, { graph, lock, matches, redo: everything, facts });
  const fit = fitOf(campaign, { graph, lock, hints });
  const compared = compareVersions(there, { graph, lock, trace }, { hints });
  return { campaign: graph.name, ref, commit, ...compared, ...(fit && { fit }) };
}

/** How the budget carries the campaign as it is here. Only credits matter, and what is on the disk costs none. */
function fitOf(
  { replays, accountOf }: Pick<OpenCampaign, 'replays' | 'accountOf'>,
  { graph, lock, hints }: { graph: Graph; lock: Lock; hints: PriceHints },
): CommitComparison['fit'] {
  const { totals } = assemblePlan({
    situation: withFiles(situate(graph, lock), { fileState: () => 'intact' }),
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
 * Finds what the campaign, as it was loaded, changes as seen from a commit: steps, credits, purchases, paid work that
 * it gives up. Read from git's objects: nothing is checked out, sent or written. Throws when either side has mistakes.
 */
export async function compare(campaign: Campaign, ref: string): Promise<CommitComparison> {
  return orFailure(compareWithCommit(campaign, checkedOf(campaign), { ref }));
}

/** Sums up what the campaign cost, in credits, and where they went. Sends nothing, and writes nothing. */
export async function cost(campaign: Campaign, options: CostOptions = { by: ['task'] }): Promise<Cost> {
  checkCall('cost', [campaign, options]);
  checkCost(options);
  return orFailure(sumUpCost(campaign, checkedOf(campaign).graph, options));
}

/**
 * Reads a lock with its lines in any order, with duplicates, CRLF, a byte order mark or merge conflict markers. `file` is
 * its path, for messages. Mistakes are in `diagnostics`.
 */
export function readLock(file: string, bytes: Uint8Array): LockReading {
  return readLockBytes(file, bytes);
}

/** The checked graph of a campaign. Throws when it has mistakes. */
function checkedOf(campaign: Campaign) {
  return graphOf(campaign.checked, campaign, campaign.checked);
}

/** One side of a comparison: a commit, or the lock as it lies here. */
interface DiffSide {
  /** Absent: the working tree. */
  ref?: string;
  /** Full hash. */
  commit?: string;
}

interface CommittedDiff extends LockDiff {
  from: DiffSide;
  to: DiffSide;
}

/** Compares the locks of two commits, or of one with the working tree. Needs no manifest, and writes nothing. */
export async function diffCommits(
  campaign: Pick<OpenCampaign, 'paths' | 'file' | 'tell'>,
  from: string,
  to: string | undefined,
): Promise<CommittedDiff> {
  const before = await readCommittedLock(campaign, from);
  const after = to === undefined ? undefined : await readCommittedLock(campaign, to);
  const { lock } = after ?? (await requireLock(campaign, undefined));
  if (before.isAbsent && (after === undefined ? lock.steps.size === 0 : after.isAbsent)) {
    throw new CampaignError({
      code: 'MB3604',
      message: `there is no lock of ${campaign.file} to compare: ${from} has none, and neither has ${to ?? 'the working tree'}`,
      hint: 'a run writes the lock, and a commit puts it into git',
      file: campaign.paths.lock,
      ref: from,
    });
  }
  return {
    from: { ref: from, commit: before.commit },
    to: after === undefined ? {} : { ref: after.ref, commit: after.commit },
    ...diffLocks(before.lock, lock),
  };
}
