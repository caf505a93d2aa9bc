import { dirname } from 'node:path';
import { longestLock } from '../../campaign/find-locks.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { ReviewAsset, ReviewEarlier } from '../../contract/review.ts';
import { walkFileHistory } from '../../disk/git/file-history.ts';
import { openRepository, pathInRepository } from '../../disk/git/repository.ts';
import type { OpenRequest } from '../../graph/graph.ts';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import type { Lock } from '../../lock/record.ts';
import { boughtAtIn } from '../../plan/bought-at.ts';
import { differingFields } from '../describe/differing-fields.ts';
import { readableRequest } from '../describe/readable-request.ts';

/** Versions of a lock of 10,000 steps are read at some 100 MB a second. */
const mostRead = 256 * 1024 ** 2;

/**
 * The lock drops the request of what was replaced: earlier versions of it in git have it still. Fills in what these tell, as
 * far as they are committed; without git, or where it cannot be read, nothing.
 */
export async function addRequests(
  { paths }: Pick<OpenCampaign, 'paths'>,
  assets: readonly ReviewAsset[],
  lock: Lock,
): Promise<void> {
  const wanted = new Map<string, { asset: ReviewAsset; earlier: ReviewEarlier }>();
  for (const asset of assets) {
    const all = asset.before ? [...asset.earlier, asset.before] : asset.earlier;
    for (const earlier of all) {
      if (earlier.job === undefined || Object.keys(earlier.request).length > 0) continue;
      wanted.set(earlier.job, { asset, earlier });
    }
  }
  if (wanted.size === 0) return;
  const requests = await findRequests(paths.lock, new Set(wanted.keys())).catch(withoutGit);
  const boughtAt = boughtAtIn(lock);
  for (const [job, request] of requests) {
    const found = wanted.get(job);
    if (found === undefined) continue;
    const { earlier, asset } = found;
    earlier.request = readableRequest(request, boughtAt);
    earlier.changed = differingFields([earlier.request, asset.request]);
  }
}

/** Finds requests, by the ids of jobs. */
async function findRequests(lock: string, jobs: Set<string>): Promise<ReadonlyMap<string, OpenRequest>> {
  const requests = new Map<string, OpenRequest>();
  const repository = await openRepository(dirname(lock));
  const path = await pathInRepository(lock, repository);
  if (path === undefined) return requests;
  let read = 0;
  await walkFileHistory(repository, { path, mostBytes: longestLock }, (_commit, bytes) => {
    for (const line of linesOf(bytes)) {
      const { jobId, request } = line;
      if (typeof jobId !== 'string' || !isMap(request) || !jobs.delete(jobId)) continue;
      requests.set(jobId, request);
    }
    read += bytes.length;
    return jobs.size > 0 && read < mostRead;
  });
  return requests;
}

function linesOf(bytes: Buffer): { [name: string]: Json }[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith('{') || !line.includes('"request"')) return [];
      try {
        const value = JSON.parse(line) as Json;
        return isMap(value) ? [value] : [];
      } catch {
        return [];
      }
    });
}

/** No repository, no git, or a history that cannot be read: it is only shown. */
function withoutGit(error: unknown): ReadonlyMap<string, OpenRequest> {
  if (error instanceof CampaignError) return new Map();
  throw error;
}
