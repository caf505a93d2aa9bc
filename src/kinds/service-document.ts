import type { Json } from '../ground/json.ts';
import { type JsonMap, mapOf, ownValue } from '../ground/values.ts';
import { findRoute } from './create-route.ts';
import { findDifferences, listValues } from './document-differences.ts';
import { follow, writeOutSchema } from './document-schema.ts';
import { envelope } from './envelope.ts';
import type { Kind } from './kind.ts';
import { asValue, bare, type ListedKind, type Listing, readListedModel } from './listed-model.ts';

/** The service's own OpenAPI document, as far as it concerns the requests we send. */
export interface ServiceDocument {
  /** `info.version`; empty when there is none. */
  version: string;
  /**
   * By kind: the path of creates, and the schema of their body with every `$ref` inlined. `byOperation`: the path is
   * unknown to this version and was found by the fields that it takes.
   */
  creates: { [kind: string]: { path: string; schema?: Json; byOperation?: true } };
  /** Reasons why no create was found, in words, by kind. */
  missing: { [kind: string]: string };
  /** Operations such as `POST /uploads`, relative to the base URL. */
  operations: string[];
  /** Differences from what this version knows, as sentences. */
  differences: string[];
  /** Models that it lists, beside the body of a request (`x-models`) and in it. */
  listing: Listing;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];
const mostModels = 500;

/** Reads a document of any content: whatever is malformed is left out, and nothing throws. */
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
    creates[kind.name] = { ...route, ...(schema !== undefined && { schema }) };
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
    differences: findDifferences(kinds, creates),
    listing,
  };
}

/** Returns paths relative to the base URL, which ends in the path of the document's first server. */
function relativePaths(root: JsonMap): ReadonlyMap<string, JsonMap> {
  const prefix = serverPath(root) ?? '';
  const paths = new Map<string, JsonMap>();
  for (const [path, found] of Object.entries(mapOf(ownValue(root, 'paths')))) {
    const item = mapOf(follow(root, found));
    const own = serverPath(item);
    if (own !== undefined && own !== prefix) {
      // Relative to another place: `/` for paths beside the API.
      const full = `${own}${path}`;
      if (prefix !== '' && full.startsWith(`${prefix}/`)) paths.set(full.slice(prefix.length), item);
      continue;
    }
    // Some documents repeat the prefix in each path.
    const named = [prefix, envelope.prefix].find((one) => one !== '' && path.startsWith(`${one}/`));
    paths.set(named === undefined ? path : path.slice(named.length), item);
  }
  return paths;
}

/** Returns the path of the first server of a document or of one path, without a trailing slash. */
function serverPath(of: JsonMap): string | undefined {
  const servers = ownValue(of, 'servers');
  const url = Array.isArray(servers) ? ownValue(mapOf(servers[0]), 'url') : undefined;
  if (typeof url !== 'string' || url.length > 2048) return undefined;
  return url.replace(/^https?:\/\/[^/]*/, '').replace(/\/+$/, '');
}

/** Media types that a body of JSON goes by, the nearest first. */
const jsonTypes = [/^application\/json\s*(;|$)/i, /^application\/[\w.-]+\+json\s*(;|$)/i, /^(application|\*)\/\*/];

function bodySchema(root: JsonMap, operation: JsonMap): Json | undefined {
  const body = mapOf(follow(root, ownValue(operation, 'requestBody')));
  const content = mapOf(ownValue(body, 'content'));
  const type = jsonTypes.flatMap((pattern) => Object.keys(content).find((name) => pattern.test(name)) ?? [])[0];
  return type === undefined ? undefined : ownValue(mapOf(ownValue(content, type)), 'schema');
}

/** Collects the fields that a body may have, in all of its forms. */
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
    models: bare(facts.map(([model, told]) => [model, readListedModel(told, kind)] as const)),
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
