import type { ListedJob } from '../contract/answer.ts';
import { ServiceError } from '../contract/errors.ts';
import type { Json } from '../ground/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { getPage, hasMore, itemsOf, pageSize, readListed, saysMore } from './listing.ts';

/** Most pages of a walk: before a job appears in its list, hundreds of others may be made. */
const mostPages = 50;

/**
 * Returns the ID of the newest job in a kind's list, or an empty string if it has none. Throws `ServiceError`, also if
 * the newest job cannot be determined.
 */
export async function findNewest(kind: Kind, get: (path: string) => Promise<Json>): Promise<string> {
  const { list } = kind;
  if (list === undefined) throw new ServiceError('unusable', `${kind.name} has no list`);
  const items = itemsOf(list, await getPage(list, { page: 1, limit: 10, get }));
  const [first] = items;
  if (first === undefined) return '';
  const [newest] = readListed(kind, [first]);
  if (newest === undefined) throw new ServiceError('unusable', `GET ${list.path}: the newest record has no usable id`);
  return newest.jobId;
}

/**
 * Returns the jobs of a kind's list that are newer than all fences (job IDs; an empty fence means that the list had no
 * job). `complete` is true only if no job can be missing: each fence was found, every record was readable, and the
 * records are in order, newest first; or the list was read to its end. `older`: the last fence and the rest of its
 * page. Throws `ServiceError`.
 */
export async function walkToFences(
  kind: Kind,
  { fences, get }: { fences: readonly string[]; get: (path: string) => Promise<Json> },
): Promise<{ jobs: ListedJob[]; older: ListedJob[]; complete: boolean }> {
  const { list } = kind;
  const jobs = new Map<string, ListedJob>();
  const walked = (complete: boolean, older: ListedJob[] = []) => ({ jobs: [...jobs.values()], older, complete });
  if (list === undefined) return walked(false);
  const ahead = new Set(fences);
  let isReadable = ahead.size > 0;
  let before = Number.POSITIVE_INFINITY;
  let first: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const body = await getPage(list, { page, limit: pageSize, get });
    const items = itemsOf(list, body);
    const listed = readListed(kind, items);
    if (listed.length !== items.length) isReadable = false;
    // A service that ignores page numbers sends the first page again.
    if (first !== undefined && listed[0]?.jobId === first) return walked(false);
    first ??= listed[0]?.jobId;
    const known = jobs.size;
    for (const job of listed) {
      // New jobs shift others to the next page, so one job may appear twice.
      if (jobs.has(job.jobId)) continue;
      const createdAt = Date.parse(job.createdAt ?? '');
      if (!(createdAt <= before)) isReadable = false;
      before = createdAt;
      ahead.delete(job.jobId);
      if (ahead.size === 0) return walked(isReadable, listed.slice(listed.indexOf(job)));
      jobs.set(job.jobId, job);
    }
    if (!list.paged || jobs.size === known || !hasMore(body, page)) {
      const isEnd = !saysMore(body, { page, seen: jobs.size });
      return walked(isReadable && isEnd && [...ahead].every((fence) => fence === ''));
    }
  }
  return walked(false);
}
