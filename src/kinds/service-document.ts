import type { Json } from '../json.ts';
import type { Kind } from './kind.ts';

/** What the service's own OpenAPI document says about the requests that we send. */
export interface ServiceDocument {
  /** `info.version`; empty where it says none. */
  version: string;
  /** By kind: where creates go to, and the schema of their body with every `$ref` written out. */
  creates: { [kind: string]: { path: string; schema?: Json } };
  /** `POST /uploads` and so on, relative to the base URL. */
  operations: string[];
  /** Sentences that name what differs from what this version knows. */
  differences: string[];
}

type Map = { readonly [key: string]: Json };

const methods = ['get', 'put', 'post', 'delete', 'patch'];
/** Deeper than any request; stops schemas that contain themselves. */
const mostDepth = 24;
/** Parts of schemas written out; a hostile document could double with every level. */
const mostParts = 50_000;

/** Reads a document of any content: what is not as it should be is left out, and nothing throws. */
export function readServiceDocument(document: Json, kinds: Readonly<Record<string, Kind>>): ServiceDocument {
  const root = mapOf(document);
  const paths = relativePaths(root);
  const creates: ServiceDocument['creates'] = Object.create(null) as ServiceDocument['creates'];
  const operations: string[] = [];
  for (const [path, item] of paths) {
    for (const method of methods) {
      if (ownValue(item, method) !== undefined) operations.push(`${method.toUpperCase()} ${path}`);
    }
  }
  for (const kind of Object.values(kinds)) {
    const path = kind.create.paths.find((candidate) => ownValue(paths.get(candidate), 'post') !== undefined);
    if (path === undefined) continue;
    const schema = bodySchema(root, mapOf(ownValue(paths.get(path), 'post')));
    creates[kind.name] = { path, ...(schema !== undefined && { schema }) };
  }
  const version = ownValue(mapOf(ownValue(root, 'info')), 'version');
  return {
    version: typeof version === 'string' ? version.slice(0, 40) : '',
    creates,
    operations,
    differences: findDifferences(kinds, creates),
  };
}

/** Paths as seen from the base URL, which ends in the path of the document's first server. */
function relativePaths(root: Map): ReadonlyMap<string, Map> {
  const servers = ownValue(root, 'servers');
  const first = Array.isArray(servers) ? mapOf(servers[0]) : {};
  const url = ownValue(first, 'url');
  const prefix = typeof url === 'string' ? url.replace(/^https?:\/\/[^/]+/, '').replace(/\/+$/, '') : '';
  const paths = new Map<string, Map>();
  for (const [path, item] of Object.entries(mapOf(ownValue(root, 'paths')))) {
    // Some documents name the prefix in each path as well.
    const own = prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
    paths.set(own, mapOf(item));
  }
  return paths;
}

function bodySchema(root: Map, operation: Map): Json | undefined {
  const body = follow(root, ownValue(operation, 'requestBody'));
  const content = mapOf(ownValue(mapOf(body), 'content'));
  const json = mapOf(ownValue(content, 'application/json'));
  const schema = ownValue(json, 'schema');
  if (schema === undefined) return undefined;
  const budget = { parts: mostParts };
  const written = writeOut(root, schema, { depth: 0, budget });
  return budget.parts > 0 ? written : undefined;
}

/** A schema without `$ref`: what is nested too deeply, or leads out of the document, matches anything. */
function writeOut(root: Map, value: Json, at: { depth: number; budget: { parts: number } }): Json {
  at.budget.parts -= 1;
  if (at.budget.parts <= 0 || at.depth > mostDepth) return true;
  const deeper = { depth: at.depth + 1, budget: at.budget };
  if (Array.isArray(value)) return value.map((item) => writeOut(root, item, deeper));
  if (value === null || typeof value !== 'object') return value;
  if (typeof value.$ref === 'string') {
    const target = follow(root, value);
    return target === undefined ? true : writeOut(root, target, deeper);
  }
  const written: { [key: string]: Json } = Object.create(null) as { [key: string]: Json };
  for (const [key, item] of Object.entries(value)) {
    // Names of schemas are of no use once they are written out, and would clash.
    if (key === '$id' || key === '$anchor' || key === '$defs' || key === 'example' || key === 'examples') continue;
    written[key] = writeOut(root, item, deeper);
  }
  return written;
}

/** The value itself, or what its `#/…` reference means; undefined for any other reference. */
function follow(root: Map, value: Json | undefined): Json | undefined {
  let found = value;
  for (let hops = 0; hops < 16; hops += 1) {
    const reference = ownValue(mapOf(found), '$ref');
    if (typeof reference !== 'string') return found;
    if (!reference.startsWith('#/')) return undefined;
    found = reference
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<Json | undefined>((part, name) => ownValue(mapOf(part), name), root as Json);
  }
  return undefined;
}

/** What the document says otherwise than the service's documentation did when this version was made. */
function findDifferences(kinds: Readonly<Record<string, Kind>>, creates: ServiceDocument['creates']): string[] {
  const differences: string[] = [];
  for (const kind of Object.values(kinds)) {
    const create = creates[kind.name];
    if (create === undefined) {
      const [path] = kind.create.paths;
      if (kind.create.documented)
        differences.push(`the service's document has no POST ${path}, which kind ${kind.name} uses`);
      continue;
    }
    const properties = mapOf(ownValue(mapOf(create.schema), 'properties'));
    for (const [name, field] of Object.entries(kind.fields)) {
      const known = name === kind.model?.field ? Object.keys(kind.model.models) : field.values;
      const told = ownValue(mapOf(ownValue(properties, name)), 'enum');
      if (known === undefined || !Array.isArray(told)) continue;
      const names = told.filter((one) => typeof one === 'string');
      differences.push(...compareValues(kind, { name, known, told: names }));
    }
    differences.push(...compareRequired(kind, create.schema));
  }
  return differences.slice(0, 50);
}

function compareValues(
  kind: Kind,
  { name, known, told }: { name: string; known: readonly string[]; told: readonly string[] },
): string[] {
  const quoted = (values: readonly string[]) =>
    values
      .slice(0, 5)
      .map((value) => `\`${value.slice(0, 60)}\``)
      .join(', ');
  const news = told.filter((value) => !known.includes(value));
  const gone = known.filter((value) => !told.includes(value));
  const what = name === kind.model?.field ? 'model' : name === 'voice_id' ? 'voice' : `\`${name}\``;
  return [
    ...(news.length > 0
      ? [`kind ${kind.name}: the service knows the ${what} ${quoted(news)}, which this version does not`]
      : []),
    ...(gone.length > 0 ? [`kind ${kind.name}: the service no longer lists the ${what} ${quoted(gone)}`] : []),
  ];
}

function compareRequired(kind: Kind, schema: Json | undefined): string[] {
  if (!kind.create.documented || kind.act !== 'job') return [];
  const required = ownValue(mapOf(schema), 'required');
  const unknown = (Array.isArray(required) ? required : []).filter(
    (name) => typeof name === 'string' && !Object.hasOwn(kind.fields, name),
  );
  return unknown.map(
    (name) =>
      `kind ${kind.name}: the service requires \`${String(name).slice(0, 60)}\`, which this version does not know`,
  );
}

function mapOf(value: Json | undefined): Map {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

function ownValue(map: Map | undefined, key: string): Json | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
