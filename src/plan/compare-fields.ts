import { canonicalJson, type Json } from '../ground/json.ts';

/** Whether a record gives back what was asked for: texts in any form of Unicode, the rest as canonical JSON. */
export function isSameField(wanted: Json, seen: Json | undefined): boolean {
  if (seen === undefined) return false;
  if (typeof wanted === 'string' && typeof seen === 'string') return wanted.normalize('NFC') === seen.normalize('NFC');
  return canonicalJson(wanted) === canonicalJson(seen);
}

/** It holds a link that only a run knows. */
export function isOpenField(value: Json): boolean {
  return value !== null && typeof value === 'object';
}

/** Without what people and services change about a text without meaning it: case, white space, the form of Unicode. */
export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Groups in the order of their first members. */
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
