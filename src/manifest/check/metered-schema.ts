import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';

/** Keyword that states the amount of work for each part of a schema, which the validator counts. */
export const effortKeyword = 'x-mediabatch-effort';

const mostParts = 10_000;
const mostCharacters = 1_000_000;
const mostDepth = 64;

/** Keywords whose values are maps of schemas by name. */
const mapsOfSchemas = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** Keywords whose values are data, even if they look like schemas. */
const dataKeys = new Set(['enum', 'const', 'default', 'required', 'dependentRequired', 'type', '$vocabulary']);
const references = ['$ref', '$dynamicRef', '$recursiveRef'];

class SchemaTooMuch extends Error {}

/**
 * Copies a schema and writes the effort of each part into it, or returns why the schema is refused. References may only
 * point to such parts, so that all work is counted.
 */
export function meterSchema(schema: Json): { schema: Json } | { problem: string } {
  const walk = new Walk();
  try {
    const metered = walk.schema(schema, 0);
    walk.checkReferences(schema); // I23 (references)
    // Strings of a parsed file may be slices of it, which are a hundred times slower to compare.
    return { schema: JSON.parse(JSON.stringify(metered)) as Json };
  } catch (error) {
    if (error instanceof SchemaTooMuch) return { problem: error.message };
    throw error;
  }
}

class Walk {
  #parts = 0;
  #characters = 0;
  readonly #counted = new Set<Json>();
  /** Parts with their own `$id`, which references may be relative to. */
  readonly #bases: Json[] = [];
  readonly #pointers: string[] = [];

  schema(value: Json, depth: number): Json {
    if (!isMap(value)) return this.#any(value, depth);
    this.#enter(depth);
    const before = this.#parts;
    this.#counted.add(value);
    if (typeof value.$id === 'string') this.#bases.push(value);
    const copy: [string, Json][] = [];
    let inner = 0;
    for (const [key, item] of Object.entries(value)) {
      this.#read(key);
      if (references.includes(key) && typeof item === 'string') this.#pointers.push(item);
      const start = this.#parts;
      copy.push([key, this.#keyword(key, item, depth + 1)]);
      if (!dataKeys.has(key)) inner += this.#parts - start - sizeOf(item);
    }
    copy.push([effortKeyword, this.#parts - before - Math.max(0, inner)]);
    return fromEntries(copy);
  }

  /** Refuses references to uncounted parts, whose work would be unlimited. The validator reports other mistakes. */
  checkReferences(root: Json): void {
    for (const pointer of this.#pointers) {
      const [, fragment] = /^[^#]*#(\/.*)$/s.exec(pointer) ?? [];
      if (fragment === undefined) continue;
      for (const base of [root, ...this.#bases]) {
        const target = follow(base, fragment);
        if (target === undefined || typeof target === 'boolean' || this.#counted.has(target)) continue;
        throw new SchemaTooMuch(`it refers to ${pointer.slice(0, 80)}, which is not a schema`);
      }
    }
  }

  #keyword(key: string, item: Json, depth: number): Json {
    if (dataKeys.has(key)) return this.#data(item, depth);
    if (!mapsOfSchemas.has(key) || !isMap(item)) return this.schema(item, depth);
    this.#enter(depth);
    return fromEntries(
      Object.entries(item).map(([name, one]) => {
        this.#read(name);
        return [name, this.schema(one, depth + 1)];
      }),
    );
  }

  #any(value: Json, depth: number): Json {
    this.#enter(depth);
    if (Array.isArray(value)) return value.map((item) => this.schema(item, depth + 1));
    if (typeof value === 'string') this.#read(value);
    return value;
  }

  #data(value: Json, depth: number): Json {
    this.#enter(depth);
    if (typeof value === 'string') this.#read(value);
    if (value === null || typeof value !== 'object') return value;
    for (const [key, item] of Object.entries(value)) {
      this.#read(key);
      this.#data(item, depth + 1);
    }
    return value;
  }

  #enter(depth: number): void {
    this.#parts += 1;
    if (this.#parts > mostParts) throw new SchemaTooMuch(`it has more than ${mostParts} parts`); // I23 (size)
    if (depth > mostDepth) throw new SchemaTooMuch(`it is nested more than ${mostDepth} levels deep`);
  }

  #read(text: string): void {
    this.#characters += text.length;
    if (this.#characters > mostCharacters) throw new SchemaTooMuch(`it has more than ${mostCharacters} characters`);
  }
}

function sizeOf(item: Json): number {
  return item !== null && typeof item === 'object' ? 1 + Object.keys(item).length : 1;
}

function follow(base: Json, pointer: string): Json | undefined {
  let found: Json | undefined = base;
  for (const part of pointer.slice(1).split('/')) {
    const name = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found =
      found !== null && typeof found === 'object' && Object.hasOwn(found, name)
        ? (found as { [key: string]: Json })[name]
        : undefined;
    if (found === undefined) return undefined;
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

/** Makes a map that keeps names such as `__proto__`. */
function fromEntries(entries: readonly (readonly [string, Json])[]): { [key: string]: Json } {
  const map = Object.create(null) as { [key: string]: Json };
  for (const [key, item] of entries) map[key] = item;
  return map;
}
