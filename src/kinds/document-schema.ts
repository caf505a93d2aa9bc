import type { Json } from '../ground/json.ts';
import { isMap, type JsonMap, mapOf, ownValue } from '../ground/values.ts';

// Reads an OpenAPI document of any content: whatever is malformed is treated as absent, and nothing throws.

/** Deeper than any real request. */
const mostDepth = 40;
/** Limit on the parts of one inlined schema: a hostile document could double in size at every level. */
const mostParts = 50_000;
const mostHops = 16;

/** Keywords whose values are maps of schemas by name, where names like `example` or `$id` are ordinary. */
const mapsOfSchemas = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Keywords whose values are data, whatever they look like. */
const dataKeys = new Set(['enum', 'const', 'required', 'dependentRequired']);
/** Schema names are useless once everything is inlined, and would clash; the other keywords validate nothing. */
const droppedKeys = new Set([
  ...['$id', '$anchor', '$schema', '$defs', 'definitions', '$vocabulary', '$comment', '$async', 'id'],
  ...['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'],
  ...['default', 'example', 'examples', 'xml', 'externalDocs', 'discriminator', 'deprecated', 'readOnly', 'writeOnly'],
]);

interface Writing {
  root: JsonMap;
  depth: number;
  /** References being inlined: one that leads back into itself matches anything. */
  open: readonly string[];
  budget: { parts: number };
}

/** Returns a schema of the document with every `$ref` inlined; `undefined` when it is too large for a request. */
export function writeOutSchema(root: JsonMap, schema: Json): Json | undefined {
  const budget = { parts: mostParts };
  const written = writeOut(schema, { root, depth: 0, open: [], budget });
  return budget.parts > 0 ? written : undefined;
}

/** Inlines references; anything nested too deeply or outside the document matches anything. */
function writeOut(value: Json, at: Writing): Json {
  at.budget.parts -= 1;
  if (at.budget.parts <= 0 || at.depth > mostDepth) return true;
  const deeper = { ...at, depth: at.depth + 1 };
  if (Array.isArray(value)) return value.map((item) => writeOut(item, deeper));
  if (value === null || typeof value !== 'object') return value;
  const { $ref: reference, ...others } = value;
  const written = writeKeys(others, deeper);
  return typeof reference === 'string' ? withTarget(written, writeTarget(reference, deeper)) : written;
}

function writeKeys(schema: JsonMap, at: Writing): { [key: string]: Json } {
  const written = Object.create(null) as { [key: string]: Json };
  for (const [key, item] of Object.entries(schema)) {
    if (droppedKeys.has(key) || key.startsWith('x-')) continue;
    if (dataKeys.has(key)) {
      written[key] = item;
    } else if (mapsOfSchemas.has(key)) {
      const map = Object.create(null) as { [key: string]: Json };
      for (const [name, one] of Object.entries(mapOf(item))) map[name] = writeOut(one, at);
      written[key] = map;
    } else {
      written[key] = writeOut(item, at);
    }
  }
  return written;
}

function writeTarget(reference: string, at: Writing): Json {
  if (at.open.includes(reference)) return true;
  const target = follow(at.root, { $ref: reference });
  return target === undefined ? true : writeOut(target, { ...at, open: [...at.open, reference] });
}

/** Merges rules beside a reference with those of its target; a description beside it takes precedence. */
function withTarget(beside: { [key: string]: Json }, target: Json): Json {
  const rules = Object.keys(beside).filter((key) => key !== 'description' && key !== 'title');
  if (rules.length === 0) return isMap(target) ? { ...target, ...beside } : target;
  return { ...beside, allOf: [...(Array.isArray(beside.allOf) ? beside.allOf : []), target] };
}

/** Returns the value itself, or the target of its `#/…` reference; `undefined` for any other reference. */
export function follow(root: JsonMap, value: Json | undefined): Json | undefined {
  let found = value;
  for (let hops = 0; hops < mostHops; hops += 1) {
    const reference = ownValue(mapOf(found), '$ref');
    if (typeof reference !== 'string') return found;
    if (!reference.startsWith('#/')) return undefined;
    found = reference
      .slice(2)
      .split('/', mostDepth)
      .map(readPointerPart)
      .reduce<Json | undefined>((part, name) => ownValue(mapOf(part), name), root as Json);
  }
  return undefined;
}

function readPointerPart(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
