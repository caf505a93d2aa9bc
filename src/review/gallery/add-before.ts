import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { readCommittedCampaign } from '../../campaign/read-committed.ts';
import type { ReviewAsset, ReviewEarlier } from '../../contract/review.ts';
import type { Lock } from '../../lock/record.ts';
import { situate } from '../../plan/situation.ts';
import type { ProblemOf } from '../describe/describe-asset.ts';
import { describeCampaign } from '../describe/describe-campaign.ts';
import { differingFields } from '../describe/differing-fields.ts';

export interface BeforeFacts {
  ref: string;
  assets: readonly ReviewAsset[];
  /** The lock as it is now. */
  lock: Lock;
  problemOf: ProblemOf;
}

/**
 * Tells each asset what it was at a commit. A lock that is not in the commit, as that of a sandbox, is not missed where the
 * present one still tells what was bought for the requests of then. Returns the commit that was found.
 */
export async function addBefore(
  campaign: OpenCampaign,
  { ref, assets, lock: present, problemOf }: BeforeFacts,
): Promise<{ ref: string; commit: string }> {
  const { graph, lock: committed, commit, isAbsent } = await readCommittedCampaign(campaign, ref);
  const lock = isAbsent ? present : committed;
  if (isAbsent && present.steps.size > 0) {
    const text = `the lock is not in ${ref}: shown as before is what was bought for the requests that are there`;
    campaign.tell({ is: 'notice', text });
  }
  // What lies at a path now is what was there then only if it has the same digest.
  const now = new Map(assets.flatMap(({ files }) => files.map(({ path, sha256 }) => [path, sha256] as const)));
  const isKeptOnly = (path: string, sha256: string) => now.has(path) && now.get(path) !== sha256;
  const there = describeCampaign({
    situation: situate(graph, lock),
    problemOf: (output) => problemOf(output, isKeptOnly(output.path, output.sha256)),
  });
  const byAddress = new Map(there.assets.map((asset) => [asset.address, asset]));
  const byJob = new Map(
    there.assets.flatMap((asset) => (asset.job === undefined ? [] : [[asset.job, asset] as const])),
  );
  const here = new Set(assets.map(({ address }) => address));
  for (const asset of assets) {
    const renamed = asset.job === undefined ? undefined : byJob.get(asset.job);
    const before = byAddress.get(asset.address) ?? (renamed && !here.has(renamed.address) ? renamed : undefined);
    // Bought for a request of some other time.
    const isOther = isAbsent && before?.state === 'changed';
    asset.before = before === undefined ? null : earlierOf(before, asset, isOther);
  }
  return { ref, commit };
}

function earlierOf({ job, credits, request, files }: ReviewAsset, now: ReviewAsset, isOther: boolean): ReviewEarlier {
  return {
    ...(!isOther && job !== undefined && { job }),
    ...(!isOther && credits !== undefined && { credits }),
    changed: differingFields([request, now.request]),
    request,
    files: isOther ? [] : files.filter(({ problem }) => problem === undefined),
  };
}
