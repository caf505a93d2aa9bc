import type { Json } from '../../ground/json.ts';
import { defined, isMap, type JsonMap, shorten, unknownValue } from '../../ground/values.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import { type RequestFault, refreshLearns } from './request-fault.ts';

interface ListedFields {
  byName: Map<string, Json[]>;
  /** True if the schema states that other fields are allowed. */
  isOpen: boolean;
  /** True if the schema rejects other fields itself, so that its validation reports them. */
  isClosed: boolean;
}

const deepest = 12;

/**
 * Finds request fields that the service's own description does not list, if it lists any, because the service may
 * ignore an unknown field and still charge. If the description allows other fields, finds only probable typos of listed
 * fields.
 */
export function findUnlistedFields(
  schema: Json,
  request: Json,
  from: { path: string; isSandbox: boolean },
): RequestFault[] {
  const faults: RequestFault[] = [];
  const visit = (schemas: readonly Json[], value: Json, at: (string | number)[]): void => {
    if (value === unknownValue || value === null || typeof value !== 'object' || at.length > deepest) return;
    if (Array.isArray(value)) {
      const items = schemas.flatMap((one) => formsOf(one)).flatMap((one) => (isMap(one.items) ? [one.items] : []));
      for (const [index, item] of value.entries()) visit(items, item, [...at, index]);
      return;
    }
    // A reference to another step's output.
    if (Object.hasOwn(value, '$ref') || Array.isArray(value.$text)) return;
    const listed = listedFields(schemas);
    for (const [name, item] of Object.entries(value)) {
      const own = listed.byName.get(name);
      if (own !== undefined) visit(own, item, [...at, name]);
      else if (listed.byName.size > 0) faults.push(...describe(name, { at, listed, value, ...from }));
    }
  };
  visit([schema], request, []);
  return faults;
}

function describe(
  name: string,
  of: { at: (string | number)[]; listed: ListedFields; value: JsonMap; path: string; isSandbox: boolean },
): RequestFault[] {
  const { at, listed, value, path, isSandbox } = of;
  const names = [...listed.byName.keys()];
  const meant = nearestField(
    name,
    names.filter((one) => !Object.hasOwn(value, one)),
  );
  if (listed.isClosed || (listed.isOpen && meant === undefined)) return [];
  const where = at.length === 0 ? `POST ${path}` : `\`${shorten(at.join('.'))}\` of POST ${path}`;
  const guess = meant === undefined ? '' : `did you mean \`${meant}\`? `;
  const risk = 'a service may ignore unknown fields and still charge (plan --strict refuses them)';
  return [
    {
      code: 'MB1501',
      severity: 'warning',
      message: `\`${shorten(name)}\` is not among the fields that the ${isSandbox ? 'sandbox' : 'service'}'s own document lists for ${where}`,
      hint: `${guess}it lists ${listNames(names)}; ${isSandbox ? refreshLearns : risk}`,
      at: [...at, name],
      ...defined({ meant }),
    },
  ];
}

/** Returns the listed name that was meant: with a typo, or with another end, like `imageUrl` for `image`. */
function nearestField(name: string, names: readonly string[]): string | undefined {
  const [short, lower] = [3, name.toLowerCase()];
  const isSame = (one: string) => one.startsWith(lower) || lower.startsWith(one);
  return (
    nearestName(name, names) ??
    names.find((one) => Math.min(one.length, name.length) >= short && isSame(one.toLowerCase()))
  );
}

/** Fields by schema, because thousands of requests are checked against one schema. */
const known = new WeakMap<object, ListedFields>();

function listedFields(schemas: readonly Json[]): ListedFields {
  const [only] = schemas;
  if (schemas.length !== 1 || !isMap(only)) return readFields(schemas);
  const listed = known.get(only) ?? readFields(schemas);
  known.set(only, listed);
  return listed;
}

function readFields(schemas: readonly Json[]): ListedFields {
  const byName = new Map<string, Json[]>();
  let [isOpen, isClosed] = [false, false];
  for (const form of schemas.flatMap((one) => formsOf(one))) {
    for (const [name, schema] of Object.entries(isMap(form.properties) ? form.properties : {})) {
      byName.set(name, [...(byName.get(name) ?? []), schema]);
    }
    for (const name of Array.isArray(form.required) ? form.required : []) {
      if (typeof name === 'string' && !byName.has(name)) byName.set(name, []);
    }
    const { additionalProperties: more, unevaluatedProperties: rest, patternProperties: patterns } = form;
    if (more === true || isMap(more) || rest === true || isMap(rest) || isMap(patterns)) isOpen = true;
    if (more === false || rest === false) isClosed = true;
  }
  return { byName, isOpen, isClosed };
}

function formsOf(schema: Json, depth = 0): JsonMap[] {
  if (!isMap(schema) || depth > 4) return [];
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  const branches = ['if', 'then', 'else', 'not'].flatMap((key) => schema[key] ?? []);
  return [schema, ...[...parts, ...branches].flatMap((one) => formsOf(one, depth + 1))];
}

export function fieldSchemas(schema: Json): ReadonlyMap<string, readonly Json[]> {
  return listedFields([schema]).byName;
}
