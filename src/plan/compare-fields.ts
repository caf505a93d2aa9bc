import { canonicalJson, type Json } from '../ground/json.ts';

/** Compares a requested value with a returned one: texts in any form of Unicode, the rest as canonical JSON. */
export function isSameField(wanted: Json, seen: Json | undefined): boolean {
  if (seen === undefined) return false;
  if (typeof wanted === 'string' && typeof seen === 'string') return wanted.normalize('NFC') === seen.normalize('NFC');
  return canonicalJson(wanted) === canonicalJson(seen);
}

/** Recognizes a value that holds a link known only to a run. */
export function isOpenField(value: Json): boolean {
  return value !== null && typeof value === 'object';
}

/** Removes differences that people and services introduce without meaning to: case, white space, Unicode form. */
export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Groups items, in the order of the groups' first members. */
export function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
