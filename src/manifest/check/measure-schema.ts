import type { Json } from '../../ground/json.ts';

const mostParts = 10_000;
const mostCharacters = 1_000_000;

/** Reason why a schema is not used, in words that follow “it”. */
export class SchemaRefusal extends Error {}

/**
 * Counts the parts by which a value is checked, with each reference followed. Throws `SchemaRefusal` if there are too
 * many, or if their number is unknown: for a part that refers to itself, and for references other than `#/…`.
 */
export function countParts(schema: Json): number {
  if (JSON.stringify(schema).length > mostCharacters) {
    throw new SchemaRefusal(`has more than ${mostCharacters} characters`);
  }
  const known = new Map<Json, number | 'open'>();
  const count = (part: Json, isRoot = false): number => {
    if (part === null || typeof part !== 'object') return 1;
    const before = known.get(part);
    if (before === 'open') throw new SchemaRefusal('has a part that refers to itself, which is not supported');
    if (before !== undefined) return before;
    known.set(part, 'open');
    let parts = 1;
    for (const [key, item] of Object.entries(part)) {
      const isReference = /^\$(?:dynamic|recursive)?[rR]ef$/.test(key) && typeof item === 'string';
      if (isReference) parts += count(follow(schema, item)); // I23 (references)
      if (key === '$id' && typeof item === 'string' && !isRoot) {
        throw new SchemaRefusal('has an `$id` below its root, which is not supported');
      }
      parts += count(item);
      if (parts > mostParts) throw new SchemaRefusal(`has more than ${mostParts} parts, with its references followed`); // I23 (size)
    }
    known.set(part, parts);
    return parts;
  };
  return count(schema, true);
}

function follow(schema: Json, reference: string): Json {
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new SchemaRefusal(
      `refers to ${reference.slice(0, 80)}, and only references such as #/$defs/name are followed`,
    );
  }
  let found: Json | undefined = schema;
  for (const part of reference.split('/').slice(1)) {
    const name = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    const isInside: boolean = found !== null && typeof found === 'object' && Object.hasOwn(found, name);
    found = isInside ? (found as { [key: string]: Json })[name] : undefined;
    if (found === undefined) throw new SchemaRefusal(`refers to ${reference.slice(0, 80)}, which does not exist`);
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Measures a value: the number of its parts, where long texts, and pairs of entries in a list, count as more. */
export function weightOf(value: Json, comparesEntries: boolean): number {
  if (typeof value === 'string') return 1 + value.length / 64;
  if (value === null || typeof value !== 'object') return 1;
  const entries = Object.entries(value);
  const pairs = comparesEntries && Array.isArray(value) ? entries.length ** 2 / 64 : 0;
  return entries.reduce((sum, [key, item]) => sum + 1 + key.length / 64 + weightOf(item, comparesEntries), 1 + pairs);
}
