/*
 * Small helpers that import no other module: JSON, diagnostics, ids, queues, similarity of names.
 * Takes and returns plain values.
 * Independent of: any noun of the domain. A helper that one module uses belongs to that module.
 */

import type { Json } from './json.ts';

/** A map without a prototype, so `constructor` and `__proto__` are ordinary keys. */
export type JsonMap = { [key: string]: Json };

export type Scalar = string | number | boolean;

export type Path = readonly (string | number)[];

export function emptyMap(): JsonMap {
  return new Bare();
}

/** A class is faster than `Object.create(null)`, because V8 gives all its instances one hidden class. */
const Bare = function Bare() {} as unknown as new () => JsonMap;
Bare.prototype = Object.freeze(Object.create(null)) as object;

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function mustGet<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`internal error: the map has no key ${String(key)}`);
  return value;
}

type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & { [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined> };

/** Returns a copy without the fields whose value is undefined. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const copy: Partial<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) copy[name] = fields[name];
  return copy as unknown as Defined<Fields>;
}

export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

export function mapOf(value: Json | undefined): JsonMap {
  return isMap(value) ? value : {};
}

export function isScalar(value: Json | undefined): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Placeholder for a value whose mistake was reported, or for a template not rendered yet. All rules accept it. */
export const unknownValue: JsonMap = Object.freeze(emptyMap());

/** Returns the value of a map key or list index. Ignores inherited properties. */
export function ownValue(container: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(container)) {
    return /^(0|[1-9][0-9]{0,8})$/.test(String(key)) ? container[Number(key)] : undefined;
  }
  return isMap(container) && Object.hasOwn(container, key) ? container[key] : undefined;
}

export function valueAt(root: Json | undefined, path: Path): Json | undefined {
  let value = root;
  for (const key of path) value = ownValue(value, key);
  return value;
}

export function freshCopy(value: Json): Json {
  if (Array.isArray(value)) return value.map(freshCopy);
  if (!isMap(value)) return value;
  const copy = emptyMap();
  for (const [key, item] of Object.entries(value)) copy[key] = freshCopy(item);
  return copy;
}

export function describeValue(value: Json | undefined): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'string') return `"${shorten(value)}"`;
  return `${typeof value === 'number' ? 'the number ' : ''}${value}`;
}

export function shorten(text: string, characters = 60): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const units = [...line];
  return units.length > characters ? `${units.slice(0, characters - 1).join('')}…` : line;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns true if a text has 1 to `most` UTF-16 units, no control characters and no unpaired surrogates. */
export function isPlainText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= most && !/[\p{Cc}\p{Cs}]/u.test(value);
}

/** Returns a function that looks up keys in a map, and computes the map on its first call. */
export function lookUpIn<Key, Value>(compute: () => ReadonlyMap<Key, Value>): (key: Key) => Value | undefined {
  let map: ReadonlyMap<Key, Value> | undefined;
  return (key) => {
    map ??= compute();
    return map.get(key);
  };
}
