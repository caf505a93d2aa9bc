import type { Json } from '../ground/json.ts';
import { mapOf, ownValue } from '../ground/values.ts';
import type { Field, Kind } from './kind.ts';
import { modelOf } from './price.ts';

const mostDifferences = 50;

/** Creates by kind: the path, and the schema of their body with every reference inlined. */
export type DocumentedCreates = { readonly [kind: string]: { readonly path: string; readonly schema?: Json } };

/** Lists, in sentences, where the document differs from the service's documentation that this version was built on. */
export function findDifferences(kinds: Readonly<Record<string, Kind>>, creates: DocumentedCreates): string[] {
  return Object.values(kinds)
    .flatMap((kind) => compareKind(kind, creates))
    .slice(0, mostDifferences);
}

function compareKind(kind: Kind, creates: DocumentedCreates): string[] {
  const create = Object.hasOwn(creates, kind.name) ? creates[kind.name] : undefined;
  if (create === undefined) {
    if (!kind.create.documented) return [];
    return [`the service's document has no POST ${kind.create.paths[0]}, which kind ${kind.name} uses`];
  }
  const schema = mapOf(create.schema);
  const properties = mapOf(ownValue(schema, 'properties'));
  const ofFields = Object.entries(kind.fields).flatMap(([name, field]) => {
    const listed = ownValue(properties, name);
    return listed === undefined
      ? []
      : [...compareValues(kind, { name, field, listed }), ...compareLength(kind, name, listed)];
  });
  return [...ofFields, ...compareRequired(kind, schema)];
}

function compareValues(kind: Kind, { name, field, listed }: { name: string; field: Field; listed: Json }): string[] {
  const known = knownValues(kind, name, field);
  const values = listValues(listed);
  if (known === undefined || values === undefined) return [];
  const news = values.filter((value) => !known.all.includes(value));
  const gone = known.expected.filter((value) => !values.includes(value));
  const what = name === kind.model?.field ? 'model' : name === 'voice_id' ? 'voice' : `\`${name}\``;
  const lists = (found: string[]) => `${kind.name} ${what} ${quote(found)}`;
  return [
    ...(news.length > 0 ? [`the service lists the ${lists(news)}, which this version does not know`] : []),
    ...(gone.length > 0 ? [`the service does not list the ${lists(gone)}, which this version knows`] : []),
  ];
}

/** Returns every known value of a field, and those that the document's list must contain. */
function knownValues(kind: Kind, name: string, field: Field): { all: string[]; expected: string[] } | undefined {
  if (field.values !== undefined) return { all: [...field.values], expected: [...field.values] };
  if (kind.model === undefined) return undefined;
  const { models } = kind.model;
  if (name === kind.model.field) {
    // Aliases of a model need not be listed.
    return {
      all: Object.keys(models),
      expected: Object.keys(models).filter((key) => models[key]?.aliasOf === undefined),
    };
  }
  const all = [...new Set(Object.values(models).flatMap((model) => model.allows?.[name] ?? []))];
  if (all.length === 0) return undefined;
  return { all, expected: [...(modelOf(kind, kind.model.default)?.allows?.[name] ?? [])] };
}

/** Returns the texts that a schema lists; `undefined` when it allows others, too. */
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

function compareLength(kind: Kind, name: string, listed: Json): string[] {
  const known = kind.fields[name]?.maxLength;
  const most = ownValue(mapOf(listed), 'maxLength');
  if (known === undefined || typeof most !== 'number' || most === known) return [];
  return [`the service allows \`${name}\` of kind ${kind.name} ${most} characters; this version goes by ${known}`];
}

function compareRequired(kind: Kind, schema: { readonly [key: string]: Json }): string[] {
  if (!kind.create.documented) return [];
  const required = ownValue(schema, 'required');
  return (Array.isArray(required) ? required : [])
    .filter((name) => typeof name === 'string')
    .filter((name) => !Object.hasOwn(kind.fields, name) && !isSentByUs(kind, name))
    .map((name) => `the service requires ${quote([name])} of kind ${kind.name}, which this version does not know`);
}

/** The content of such a file is sent in place of its path. */
function isSentByUs(kind: Kind, name: string): boolean {
  return kind.act === 'upload' && name === 'base64';
}

function quote(values: readonly string[]): string {
  const shown = values.slice(0, 5).map((value) => `\`${value.slice(0, 60)}\``);
  return values.length > 5 ? `${shown.join(', ')} and ${values.length - 5} more` : shown.join(', ');
}
