import type { Json } from '../ground/json.ts';
import { defined, isMap, type JsonMap, mapOf, ownValue } from '../ground/values.ts';
import { envelope } from './envelope.ts';
import type { Kind } from './kind.ts';
import { asValue, bare, type ListedKind, type Listing, readListedModel } from './listed-model.ts';

export interface ServiceDocument {
  version: string;
  /**
   * By kind: path of create requests, and schema of the request body with every `$ref` inlined. `byOperation`: set if
   * this version does not know the path, and found the operation by the fields of its body.
   */
  creates: { [kind: string]: { path: string; schema?: Json; byOperation?: true } };
  missing: { [kind: string]: string };
  operations: string[];
  listing: Listing;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];
const mostModels = 500;

/** Reads the service's OpenAPI document. Omits malformed parts. Never throws. */
export function readServiceDocument(document: Json, kinds: Readonly<Record<string, Kind>>): ServiceDocument {
  const root = mapOf(document);
  const paths = relativePaths(root);
  const creates = Object.create(null) as ServiceDocument['creates'];
  const listing = Object.create(null) as { [kind: string]: ListedKind };
  const missing = Object.create(null) as ServiceDocument['missing'];
  const bodyOf = (path: string) => bodySchema(root, mapOf(ownValue(paths.get(path), 'post')));
  const posts = [...paths].flatMap(([path, item]) => (ownValue(item, 'post') === undefined ? [] : [path]));
  for (const kind of Object.values(kinds)) {
    const route = findRoute(kind, { posts, takes: (path) => fieldsOf(root, bodyOf(path)) });
    if ('missing' in route) {
      missing[kind.name] = route.missing;
      continue;
    }
    const body = bodyOf(route.path);
    const schema = body === undefined ? undefined : writeOutSchema(root, body);
    creates[kind.name] = { ...route, ...defined({ schema }) };
    listing[kind.name] = readListedKind(mapOf(follow(root, body)), { kind, schema });
  }
  const operations = [...paths].flatMap(([path, item]) =>
    methods.filter((method) => ownValue(item, method) !== undefined).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const version = ownValue(mapOf(ownValue(root, 'info')), 'version');
  return {
    version: typeof version === 'string' ? version.slice(0, 40) : '',
    creates,
    missing,
    operations,
    listing,
  };
}

function relativePaths(root: JsonMap): ReadonlyMap<string, JsonMap> {
  const prefix = serverPath(root) ?? '';
  const paths = new Map<string, JsonMap>();
  for (const [path, found] of Object.entries(mapOf(ownValue(root, 'paths')))) {
    const item = mapOf(follow(root, found));
    const own = serverPath(item);
    if (own !== undefined && own !== prefix) {
      // A path may be relative to another server, for example `/` for paths outside the API.
      const full = `${own}${path}`;
      if (prefix !== '' && full.startsWith(`${prefix}/`)) paths.set(full.slice(prefix.length), item);
      continue;
    }
    // Some OpenAPI documents repeat the prefix of the API in each path.
    const named = [prefix, envelope.prefix].find((one) => one !== '' && path.startsWith(`${one}/`));
    paths.set(named === undefined ? path : path.slice(named.length), item);
  }
  return paths;
}

function serverPath(of: JsonMap): string | undefined {
  const servers = ownValue(of, 'servers');
  const url = Array.isArray(servers) ? ownValue(mapOf(servers[0]), 'url') : undefined;
  if (typeof url !== 'string' || url.length > 2048) return undefined;
  return url.replace(/^https?:\/\/[^/]*/, '').replace(/\/+$/, '');
}

const jsonTypes = [/^application\/json\s*(;|$)/i, /^application\/[\w.-]+\+json\s*(;|$)/i, /^(application|\*)\/\*/];

function bodySchema(root: JsonMap, operation: JsonMap): Json | undefined {
  const body = mapOf(follow(root, ownValue(operation, 'requestBody')));
  const content = mapOf(ownValue(body, 'content'));
  const type = jsonTypes.flatMap((pattern) => Object.keys(content).find((name) => pattern.test(name)) ?? [])[0];
  return type === undefined ? undefined : ownValue(mapOf(ownValue(content, type)), 'schema');
}

function fieldsOf(root: JsonMap, body: Json | undefined): ReadonlySet<string> {
  const written = body === undefined ? undefined : writeOutSchema(root, body);
  const fields = new Set<string>();
  const visit = (schema: Json | undefined, depth: number) => {
    if (depth > 4) return;
    const map = mapOf(schema);
    for (const name of Object.keys(mapOf(ownValue(map, 'properties')))) fields.add(name);
    for (const forms of ['allOf', 'anyOf', 'oneOf'].map((key) => ownValue(map, key))) {
      if (Array.isArray(forms)) for (const form of forms) visit(form, depth + 1);
    }
  };
  visit(written, 0);
  return fields;
}

function readListedKind(body: JsonMap, { kind, schema }: { kind: Kind; schema: Json | undefined }): ListedKind {
  const facts = Object.entries(mapOf(ownValue(body, 'x-models'))).slice(0, mostModels);
  const properties = Object.entries(mapOf(ownValue(body, 'properties')));
  const written = Object.entries(mapOf(ownValue(mapOf(schema), 'properties')));
  return {
    fields: written.map(([name]) => name),
    models: bare(facts.map(([model, listed]) => [model, readListedModel(listed, kind)] as const)),
    defaults: bare(
      properties.flatMap(([name, property]) => {
        const value = asValue(ownValue(mapOf(property), 'default'));
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    values: bare(
      written.flatMap(([name, property]) => {
        const values = listValues(property);
        return values === undefined ? [] : [[name, values] as const];
      }),
    ),
  };
}

/** Returns the strings that a schema lists. Returns `undefined` if the schema allows other strings. */
export function listValues(schema: Json, depth = 0): string[] | undefined {
  const map = mapOf(schema);
  const values = ownValue(map, 'enum');
  if (Array.isArray(values)) return values.filter((value) => typeof value === 'string');
  const constant = ownValue(map, 'const');
  if (typeof constant === 'string') return [constant];
  const choices = ownValue(map, 'anyOf') ?? ownValue(map, 'oneOf');
  if (!Array.isArray(choices) || depth > 3) return undefined;
  const lists = choices
    .filter((choice) => ownValue(mapOf(choice), 'type') !== 'null')
    .map((choice) => listValues(choice, depth + 1));
  return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
}

type FoundRoute = { path: string; byOperation?: true } | { missing: string };

/**
 * Finds the POST operation that creates jobs of a kind. If no known path exists, searches the POST operations next to
 * the known paths for a body with the main field of the kind. If several bodies have the main field, the body must have
 * all fields of the kind. `takes`: returns the fields of an operation's body.
 */
function findRoute(
  kind: Kind,
  document: { posts: readonly string[]; takes(path: string): ReadonlySet<string> },
): FoundRoute {
  const { paths } = kind.create;
  const known = paths.find((path) => document.posts.includes(path));
  if (known !== undefined) return { path: known };
  const collection = `/${paths[0].split('/')[1]}`;
  const fields = Object.keys(kind.fields);
  // The first field of a kind is its main field. An operation without this field does not create jobs of the kind.
  const [main = ''] = fields;
  const candidates = document.posts
    .filter((path) => path.startsWith(`${collection}/`) && !path.includes('{'))
    .map((path) => ({ path, takes: document.takes(path) }))
    .filter(({ takes }) => takes.has(main));
  const whole = candidates.filter(({ takes }) => fields.every((field) => takes.has(field)));
  const [only, ...others] = candidates.length > 1 ? whole : candidates;
  if (only !== undefined && others.length === 0) return { path: only.path, byOperation: true };
  const sought = paths.map((path) => `POST ${path}`).join(' or ');
  const found = candidates.slice(0, 3).map(({ path }) => `POST ${path}`);
  const why =
    found.length === 0
      ? `no other POST operation below ${collection} has the field \`${main}\``
      : `several operations may create this kind: ${found.join(', ')}`;
  return { missing: `the service's OpenAPI document has no ${sought}, and ${why}` };
}

// The rest of this file inlines the schemas of an OpenAPI document. Malformed parts are treated as missing. These
// functions never throw.

const mostDepth = 40;
/** Maximum number of parts of an inlined schema. A malicious schema could double in size at every level. */
const mostParts = 50_000;
const mostHops = 16;

const mapsOfSchemas = new Set(['properties', 'patternProperties', 'dependentSchemas']);
const dataKeys = new Set(['enum', 'const', 'required', 'dependentRequired']);
/** Keywords to drop: names of schemas, which could conflict, and keywords that do not affect validation. */
const droppedKeys = new Set([
  ...['$id', '$anchor', '$schema', '$defs', 'definitions', '$vocabulary', '$comment', '$async', 'id'],
  ...['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'],
  ...['default', 'example', 'examples', 'xml', 'externalDocs', 'discriminator', 'deprecated', 'readOnly', 'writeOnly'],
]);

interface Writing {
  root: JsonMap;
  depth: number;
  /** References that are being inlined. A circular reference becomes a schema that allows anything. */
  open: readonly string[];
  budget: { parts: number };
}

function writeOutSchema(root: JsonMap, schema: Json): Json | undefined {
  const budget = { parts: mostParts };
  const written = writeOut(schema, { root, depth: 0, open: [], budget });
  return budget.parts > 0 ? written : undefined;
}

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

function withTarget(beside: { [key: string]: Json }, target: Json): Json {
  const rules = Object.keys(beside).filter((key) => key !== 'description' && key !== 'title');
  if (rules.length === 0) return isMap(target) ? { ...target, ...beside } : target;
  return { ...beside, allOf: [...(Array.isArray(beside.allOf) ? beside.allOf : []), target] };
}

function follow(root: JsonMap, value: Json | undefined): Json | undefined {
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
