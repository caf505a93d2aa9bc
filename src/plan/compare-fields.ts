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
