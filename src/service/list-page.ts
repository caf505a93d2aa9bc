import { ServiceError } from '../contract/errors.ts';
import type { Json } from '../ground/json.ts';
import { envelope } from '../kinds/envelope.ts';
import type { Kind } from '../kinds/kind.ts';
import { readAt } from './fields.ts';

const { page: names } = envelope;

type List = NonNullable<Kind['list']>;

/** Largest page of the documented lists. */
export const pageSize = 100;

/** Returns the path of a page, relative to the base URL. A list without pages is requested as a whole. */
export function pagePath(list: List, { page, limit }: { page: number; limit: number }): string {
  return list.paged ? `${list.path}?page=${page}&limit=${limit}` : list.path;
}

/** Gets a page. Not every list states its largest one: a list that refuses ours is requested with its default. */
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

/** Whether there are more pages. If the answer does not say, the next page will. */
export function hasMore(body: Json, page: number): boolean {
  const hasNext = readAt(body, names.hasNext);
  const pages = readAt(body, names.pages);
  if (typeof hasNext === 'boolean') return hasNext;
  return typeof pages === 'number' ? page < pages : true;
}

/** True when the answer says that there is more than this page and the `seen` records up to it. */
export function saysMore(body: Json, { page, seen }: { page: number; seen: number }): boolean {
  const pages = readAt(body, names.pages);
  if (readAt(body, names.hasNext) === true || (typeof pages === 'number' && page < pages)) return true;
  return (readTotal(body) ?? 0) > seen;
}

/** Records per page of this list, as far as this page with `count` records tells. */
export function readPageSize(body: Json, count: number): number | undefined {
  // A page followed by others is full, whatever length it echoes from the request.
  if (readAt(body, names.hasNext) === true && count > 0) return count;
  const limit = readAt(body, names.limit);
  return typeof limit === 'number' && Number.isInteger(limit) && limit >= Math.max(1, count) ? limit : undefined;
}

/** Number of records in the whole list, if the answer states it. */
export function readTotal(body: Json): number | undefined {
  const total = readAt(body, names.records);
  return typeof total === 'number' && Number.isInteger(total) && total >= 0 ? total : undefined;
}

/** The records of a page. Throws `ServiceError` when it contains no list. */
export function itemsOf(list: List, body: Json): readonly Json[] {
  const items = readAt(body, list.items);
  if (Array.isArray(items)) return items;
  throw new ServiceError('unusable', `GET ${list.path}: the answer has no list \`${list.items}\``);
}
