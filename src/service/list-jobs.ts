import type { ListedJob } from '../contract/listed-job.ts';
import type { Json } from '../ground/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { getPage, hasMore, itemsOf, pageSize } from './list-page.ts';
import { readListed } from './read-listed.ts';

/** Number of jobs of a kind, newest first, that are searched for a single one. */
export const mostLookedThrough = 1000;
/** Most pages that are read: more than any account has, to stop at lists that never end. */
const mostPages = 200;

/** Lists jobs by pages, newest first, until there are enough. Empty: a kind without a list. Throws `ServiceError`. */
export async function listJobs(
  kind: Kind,
  { limit, get }: { limit: number; get: (path: string) => Promise<Json> },
): Promise<ListedJob[]> {
  const { list } = kind;
  if (list === undefined || limit <= 0) return [];
  const found = new Map<string, ListedJob>();
  for (let page = 1; page <= mostPages && found.size < limit; page += 1) {
    const body = await getPage(list, { page, limit: Math.min(pageSize, limit), get });
    const items = itemsOf(list, body);
    const before = found.size;
    // New jobs push others onto the next page: the same one may appear twice.
    for (const job of readListed(kind, items)) if (!found.has(job.jobId)) found.set(job.jobId, job);
    if (!list.paged || found.size === before || !hasMore(body, page)) break;
  }
  return [...found.values()].slice(0, limit);
}
