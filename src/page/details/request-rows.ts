import type { Json } from '../../ground/json.ts';
import { textFields } from '../parts/words.ts';

interface RequestRow {
  path: string;
  value: string | { address: string; field: string };
  /** Whether another request of the group has a different value or no value. */
  differs: boolean;
}

type Request = Readonly<Record<string, Json>>;

export function listRequest(request: Request, others: readonly Request[]): RequestRow[] {
  const theirs = others.map((other) => new Map(leavesOf(other).map(([path, value]) => [path, JSON.stringify(value)])));
  return leavesOf(request)
    .sort(([one], [other]) => rankOf(one) - rankOf(other))
    .map(([path, value]) => ({
      path,
      value: asStep(value) ?? (typeof value === 'string' ? value : JSON.stringify(value)),
      differs: theirs.some((other) => other.get(path) !== JSON.stringify(value)),
    }));
}

export const pixelSize = 'Size';

const first = [...textFields, 'model', pixelSize];

function rankOf(path: string): number {
  const place = first.indexOf(path);
  return place < 0 ? first.length : place;
}

function leavesOf(value: Json, path = ''): [path: string, value: Json][] {
  if (typeof value !== 'object' || value === null || asStep(value)) return [[path, value]];
  const entries = Array.isArray(value)
    ? value.map((item, index): [string, Json] => [`${path}[${index}]`, item])
    : Object.entries(value).map(([name, item]): [string, Json] => [path === '' ? name : `${path}.${name}`, item]);
  if (entries.length === 0 && path !== '') return [[path, value]];
  return entries.flatMap(([place, item]) => leavesOf(item, place));
}

function asStep(value: Json): { address: string; field: string } | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { $ref, field } = value;
  return typeof $ref === 'string' ? { address: $ref, field: typeof field === 'string' ? field : '' } : undefined;
}
