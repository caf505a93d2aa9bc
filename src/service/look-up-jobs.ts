import type { Json } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import { readRecord } from './fields.ts';
import { getPage, hasMore } from './list-jobs.ts';
import { type ListedJob, readListed } from './read-listed.ts';
import { ServiceError } from './service-error.ts';

const pageSize = 100;
const mostPages = 10;

/**
 * The jobs of a kind's list that are newer than the fence (a job's id; empty: the list had no job). `complete` only if
 * the fence was met, every record could be read, and the records stand in order, newest first: otherwise a job may be
 * missing here that the service has. `older`: the fence and what stands behind it on its page. Throws `ServiceError`.
 */
export async function walkToFence(
  kind: Kind,
  { fence, get }: { fence: string; get: (path: string) => Promise<Json> },
): Promise<{ jobs: ListedJob[]; older: ListedJob[]; complete: boolean }> {
  const { list } = kind;
  const jobs = new Map<string, ListedJob>();
  const walked = (complete: boolean, older: ListedJob[] = []) => ({ jobs: [...jobs.values()], older, complete });
  if (list === undefined) return walked(false);
  let isReadable = true;
  let before = Number.POSITIVE_INFINITY;
  for (let page = 1; page <= mostPages; page += 1) {
    const body = await getPage(list, { page, limit: pageSize, get });
    const items = readRecord(body)?.[list.items];
    if (!Array.isArray(items)) {
      throw new ServiceError('unusable', `GET ${list.path}: the answer has no list \`${list.items}\``);
    }
    const listed = readListed(kind, items);
    if (listed.length !== items.length) isReadable = false;
    const known = jobs.size;
    for (const job of listed) {
      // New jobs push others onto the next page: the same one may come twice.
      if (jobs.has(job.jobId)) continue;
      const createdAt = Date.parse(job.createdAt ?? '');
      if (!(createdAt <= before)) isReadable = false;
      before = createdAt;
      if (job.jobId === fence) return walked(isReadable, listed.slice(listed.indexOf(job)));
      jobs.set(job.jobId, job);
    }
    if (!list.paged || jobs.size === known || !hasMore(body, page)) return walked(isReadable && fence === '');
  }
  return walked(false);
}
