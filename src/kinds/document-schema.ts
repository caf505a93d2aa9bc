import type { Json } from '../ground/json.ts';
import { isMap, type JsonMap, mapOf, ownValue } from '../ground/values.ts';

// Reads an OpenAPI document of any content: what is not as it should be is absent, and nothing throws.

/** Deeper than any request. */
const mostDepth = 40;
/** Parts of one schema written out: a hostile document could double with every level. */
const mostParts = 50_000;
const mostHops = 16;

/** Their values are maps of schemas by name: names like `example` or `$id` are ordinary there. */
const mapsOfSchemas = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Their values are data, whatever they look like. */
const dataKeys = new Set(['enum', 'const', 'required', 'dependentRequired']);
/** Names of schemas are of no use once all is written out, and would clash; the rest does not judge. */
const droppedKeys = new Set([
  ...['$id', '$anchor', '$schema', '$defs', 'definitions', '$vocabulary', '$comment', '$async', 'id'],
  ...['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'],
  ...['default', 'example', 'examples', 'xml', 'externalDocs', 'discriminator', 'deprecated', 'readOnly', 'writeOnly'],
]);

interface Writing {
  root: JsonMap;
  depth: number;
  /** References that are being written out: one that leads into itself matches anything. */
  open: readonly string[];
  budget: { parts: number };
}

/** A schema of the document with every `$ref` written out; undefined when it is too large to be one of a request. */
export function writeOutSchema(root: JsonMap, schema: Json): Json | undefined {
  const budget = { parts: mostParts };
  const written = writeOut(schema, { root, depth: 0, open: [], budget });
  return budget.parts > 0 ? written : undefined;
}

/** What is nested too deeply, or leads out of the document, matches anything. */
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

/** Rules beside a reference count as well; a description beside it goes before that of what it refers to. */
function withTarget(beside: { [key: string]: Json }, target: Json): Json {
  const rules = Object.keys(beside).filter((key) => key !== 'description' && key !== 'title');
  if (rules.length === 0) return isMap(target) ? { ...target, ...beside } : target;
  return { ...beside, allOf: [...(Array.isArray(beside.allOf) ? beside.allOf : []), target] };
}

/** The value itself, or what its `#/…` reference means; undefined for any other reference. */
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
