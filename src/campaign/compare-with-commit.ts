import { findMergeBase } from '../disk/git/repository.ts';
import { type Comparison, compareVersions } from '../plan/compare-versions.ts';
import { situate } from '../plan/situation.ts';
import type { CheckedGraph } from './checked-graph.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { findPriceHints } from './price-hints.ts';
import { readCommittedCampaign } from './read-committed.ts';
import { requireLock } from './read-lock.ts';

/** Changes of the working tree as seen from a commit. */
export interface CommitComparison extends Comparison {
  campaign: string;
  ref: string;
  /** Full hash. */
  commit: string;
}

/** Compares the campaign as it lies here with a commit. Checks nothing out, and asks nobody. */
export async function compareWithCommit(
  campaign: OpenCampaign,
  { graph, trace, facts }: CheckedGraph,
  { ref, serviceMoved }: { ref: string; serviceMoved?: boolean | undefined },
): Promise<CommitComparison> {
  const { lock } = await requireLock(campaign, campaign.service, { serviceMoved });
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
  return { campaign: graph.name, ref, commit, ...compareVersions(there, { graph, lock, trace }, { hints }) };
}
