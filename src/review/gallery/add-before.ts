import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { readCommittedCampaign } from '../../campaign/read-committed.ts';
import type { ReviewAsset, ReviewData, ReviewEarlier } from '../../contract/review.ts';
import { canonicalJson } from '../../ground/json.ts';
import type { ProblemOf } from '../describe/describe-asset.ts';
import { describeCampaign } from '../describe/describe-campaign.ts';

/** Tells each asset what it was at a commit. Returns the commit that was found. */
export async function addBefore(
  campaign: OpenCampaign,
  { assets }: Pick<ReviewData, 'assets'>,
  ref: string,
  problemOf: ProblemOf,
): Promise<{ ref: string; commit: string }> {
  const { graph, lock, commit } = await readCommittedCampaign(campaign, ref);
  // What lies at a path now is what was there then only if it has the same digest.
  const now = new Map(assets.flatMap(({ files }) => files.map(({ path, sha256 }) => [path, sha256] as const)));
  const isKeptOnly = (path: string, sha256: string) => now.has(path) && now.get(path) !== sha256;
  const there = describeCampaign({
    graph,
    lock,
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
    asset.before = before === undefined ? null : earlierOf(before, asset);
  }
  return { ref, commit };
}

function earlierOf({ job, credits, request, files }: ReviewAsset, now: ReviewAsset): ReviewEarlier {
  const fields = [...new Set([...Object.keys(request), ...Object.keys(now.request)])];
  const textOf = (value: ReviewAsset['request'][string] | undefined) =>
    value === undefined ? undefined : canonicalJson(value);
  return {
    ...(job !== undefined && { job }),
    ...(credits !== undefined && { credits }),
    changed: fields.filter((field) => textOf(request[field]) !== textOf(now.request[field])),
    request,
    files: files.filter(({ problem }) => problem === undefined),
  };
}
