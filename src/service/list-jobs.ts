import type { Json } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import { readRecord } from './fields.ts';
import { type ListedJob, readListed } from './read-listed.ts';
import { ServiceError } from './service-error.ts';

/** As many as the documented lists give at most. */
const pageSize = 100;
/** More than any account has: ends lists that never do. */
const mostPages = 200;

/** Newest first, page by page until there are enough. Empty for a kind without a list. Throws `ServiceError`. */
export async function listJobs(
  kind: Kind,
  { limit, get }: { limit: number; get: (path: string) => Promise<Json> },
): Promise<ListedJob[]> {
  const { list } = kind;
  if (list === undefined || limit <= 0) return [];
  const found = new Map<string, ListedJob>();
  for (let page = 1; page <= mostPages && found.size < limit; page += 1) {
    const body = await getPage(list, { page, limit: Math.min(pageSize, limit), get });
    const items = readRecord(body)?.[list.items];
    if (!Array.isArray(items)) {
      throw new ServiceError('unusable', `GET ${list.path}: the answer has no list \`${list.items}\``);
    }
    const before = found.size;
    // New jobs push others onto the next page: the same one may come twice.
    for (const job of readListed(kind, items)) if (!found.has(job.jobId)) found.set(job.jobId, job);
    if (!list.paged || found.size === before || !hasMore(body, page)) break;
  }
  return [...found.values()].slice(0, limit);
}

/** Not every list says how long a page may be: one that refuses ours is asked for its own. */
export async function getPage(
  list: NonNullable<Kind['list']>,
  { page, limit, get }: { page: number; limit: number; get: (path: string) => Promise<Json> },
): Promise<Json> {
  if (!list.paged) return get(list.path);
  try {
    return await get(`${list.path}?page=${page}&limit=${limit}`);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.why !== 'refused' || error.status === 404) throw error;
    return get(`${list.path}?page=${page}`);
  }
}

/** Where the answer does not say, the next page does. */
export function hasMore(body: Json, page: number): boolean {
  const pagination = readRecord(readRecord(body)?.pagination);
  if (typeof pagination?.hasNextPage === 'boolean') return pagination.hasNextPage;
  return typeof pagination?.totalPages === 'number' ? page < pagination.totalPages : true;
}
