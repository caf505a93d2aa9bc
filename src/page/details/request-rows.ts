import { pairCommon } from '../../ground/common-words.ts';
import type { Json } from '../../ground/json.ts';
import { textFields } from '../parts/words.ts';

/** A part of a text. `differs`: at least one other text does not have it there. */
interface Stretch {
  text: string;
  differs: boolean;
}

/** One value of a request with its path, such as `lyrics[2].text`. */
export interface RequestRow {
  path: string;
  value: { is: 'text'; stretches: Stretch[] } | { is: 'step'; address: string; field: string };
  /** Whether another request of the group has a different value or none. */
  differs: boolean;
}

type Request = Readonly<Record<string, Json>>;

/**
 * Lists the values of a request: texts and model first, the rest in its own order. What differs from `others` is
 * marked, in texts word by word.
 */
export function listRequest(request: Request, others: readonly Request[]): RequestRow[] {
  const leaves = leavesOf(request).sort(([one], [other]) => rankOf(one) - rankOf(other));
  const theirs = others.map((other) => new Map(leavesOf(other)));
  const rows = leaves.map(([path, value]): RequestRow => {
    const values = theirs.map((other) => other.get(path));
    const differs = values.some((other) => other === undefined || !isSame(value, other));
    const step = asStep(value);
    if (step) return { path, value: { is: 'step', ...step }, differs };
    const texts = values.flatMap((other) => (other === undefined || asStep(other) ? [] : [asText(other)]));
    return { path, value: { is: 'text', stretches: markWords(asText(value), texts) }, differs };
  });
  return rows;
}

/** Name under which the measured size is listed with the request. */
export const pixelSize = 'Size';

const first = [...textFields, 'model', pixelSize];

function rankOf(path: string): number {
  const place = first.indexOf(path);
  return place < 0 ? first.length : place;
}

export function listLacking(request: Request, others: readonly Request[]): string[] {
  const own = new Set(leavesOf(request).map(([path]) => path));
  return [...new Set(others.flatMap((other) => leavesOf(other).map(([path]) => path)))].filter(
    (path) => !own.has(path),
  );
}

/** Values of a request with their paths. Empty lists and objects count as values. */
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

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isSame(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Maximum size of the comparison matrix for words; larger texts are compared as a whole. */
const mostCells = 640_000;
/** Maximum number of other texts to compare words with; a group may have hundreds. */
const mostOthers = 20;

/** Splits `text`, by words, into parts that all `others` have, and parts that at least one of them lacks. */
export function markWords(text: string, others: readonly string[]): Stretch[] {
  const words = text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
  const differs = words.map(() => false);
  for (const other of [...new Set(others)].slice(0, mostOthers)) {
    const theirs = other.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
    const shared = new Set(pairCommon(words, theirs, mostCells).map(([index]) => index));
    words.forEach((_, index) => {
      if (!shared.has(index)) differs[index] = true;
    });
  }
  return joinStretches(words.map((word, index) => ({ text: word, differs: differs[index] === true })));
}

/** Joins neighbouring parts of the same sort. A space between two differing parts counts as differing. */
function joinStretches(stretches: readonly Stretch[]): Stretch[] {
  const joined: Stretch[] = [];
  stretches.forEach((stretch, index) => {
    const isBetween = stretch.text.trim() === '' && stretches[index - 1]?.differs && stretches[index + 1]?.differs;
    const differs = isBetween === true || (stretch.differs && stretch.text.trim() !== '');
    const last = joined.at(-1);
    if (last?.differs === differs) last.text += stretch.text;
    else joined.push({ text: stretch.text, differs });
  });
  return joined;
}
