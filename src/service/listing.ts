import type { ListedJob } from '../contract/answer.ts';
import { ServiceError } from '../contract/errors.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import type { Kind } from '../kinds/kind.ts';
import { readAt, readCredits, readText } from './fields.ts';

const { page: names } = envelope;

type List = NonNullable<Kind['list']>;

export const pageSize = 100;

export function pagePath(list: List, { page, limit }: { page: number; limit: number }): string {
  return list.paged ? `${list.path}?page=${page}&limit=${limit}` : list.path;
}

/**
 * Requests a page of a list. If the service refuses the page size, requests the page without one, because not every
 * list documents it.
 */
export async function getPage(
  list: List,
  { page, limit, get }: { page: number; limit: number; get: (path: string) => Promise<Json> },
): Promise<Json> {
  if (!list.paged) return get(list.path);
  try {
    return await get(pagePath(list, { page, limit }));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.why !== 'refused' || error.status === 404) throw error;
    return get(`${list.path}?page=${page}`);
  }
}

/** Returns whether another page follows. Returns true if the answer does not state whether a page follows. */
export function hasMore(body: Json, page: number): boolean {
  const hasNext = readAt(body, names.hasNext);
  const pages = readAt(body, names.pages);
  if (typeof hasNext === 'boolean') return hasNext;
  return typeof pages === 'number' ? page < pages : true;
}

export function hasMorePages(body: Json, { page, seen }: { page: number; seen: number }): boolean {
  const pages = readAt(body, names.pages);
  if (readAt(body, names.hasNext) === true || (typeof pages === 'number' && page < pages)) return true;
  return (readTotal(body) ?? 0) > seen;
}

export function readPageSize(body: Json, count: number): number | undefined {
  // A page before the last is full, so its number of records is the page size, even if the answer states another size.
  if (readAt(body, names.hasNext) === true && count > 0) return count;
  const limit = readAt(body, names.limit);
  return typeof limit === 'number' && Number.isInteger(limit) && limit >= Math.max(1, count) ? limit : undefined;
}

function readTotal(body: Json): number | undefined {
  const total = readAt(body, names.records);
  return typeof total === 'number' && Number.isInteger(total) && total >= 0 ? total : undefined;
}

export function itemsOf(list: List, body: Json): readonly Json[] {
  const items = readAt(body, list.items);
  if (Array.isArray(items)) return items;
  throw new ServiceError('unusable', `GET ${list.path}: the answer has no list \`${list.items}\``);
}

const longestText = 2000;

export function readListed(kind: Kind, items: readonly Json[]): ListedJob[] {
  const { job } = envelope;
  return items.flatMap((item): ListedJob | [] => {
    const text = (names: string | readonly string[]) => readText(item, names, longestText);
    const own = readAt(item, job.id);
    const named = readAt(item, kind.list?.jobId ?? job.id) ?? own;
    if (!isJobId(named)) return [];
    return {
      kind: kind.name,
      jobId: named,
      ...(isJobId(own) && own !== named && { recordId: own }),
      status: text(job.status) ?? 'unknown',
      echoes: readEchoes(kind, item),
      ...defined({
        createdAt: text(job.createdAt),
        model: text(job.model),
        prompt: text(job.prompt),
        credits: readCredits(item, job.credits),
        error: text(job.error),
        url: text(job.listedLink),
      }),
    };
  });
}

function readEchoes(kind: Kind, item: Json): { [field: string]: Json } {
  const echoes: { [field: string]: Json } = {};
  for (const [field, name] of Object.entries(kind.list?.echoes ?? {})) {
    const value = readAt(item, name);
    if (value !== undefined && value !== null) echoes[field] = value;
  }
  return echoes;
}

/** Maximum number of jobs, from the newest of a kind, among which to search for one job. */
export const mostLookedThrough = 1000;
/** Maximum number of pages to read, because a faulty list may never end. */
const mostPages = 200;

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
    // New jobs move earlier jobs to the next page, so a job may appear twice.
    for (const job of readListed(kind, items)) if (!found.has(job.jobId)) found.set(job.jobId, job);
    if (!list.paged || found.size === before || !hasMore(body, page)) break;
  }
  return [...found.values()].slice(0, limit);
}
