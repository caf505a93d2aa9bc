import type { Json } from '../../ground/json.ts';
import { defined, describeValue, isMap, type JsonMap, shorten, unknownValue, valueAt } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { ServiceDocument } from '../../kinds/service-document.ts';
import type { CompiledSchema, SchemaCompiler, SchemaProblem } from '../../manifest/check/json-schema.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import { checkRequest } from './check-request.ts';
import { type RequestChecker, type RequestFault, refreshLearns } from './request-fault.ts';

/** A problem. For a value that fits none of several forms, it includes the requirements of each form. */
interface GatheredProblem extends SchemaProblem {
  forms?: GatheredProblem[];
}

export type { RequestChecker } from './request-fault.ts';

const placeholder = 'https://example.com/output';

/**
 * Makes a checker from the service's description of its API. Kinds that are not in it stay unchecked. Problems found
 * with the sandbox's description are only warnings, because the user's service may differ where the API is not
 * documented.
 */
export function makeRequestChecker(
  document: ServiceDocument,
  compile: SchemaCompiler,
  { isSandbox = false }: { isSandbox?: boolean } = {},
): RequestChecker {
  const compiled = new Map<string, CompiledSchema | undefined>();
  const compiledFor = (kind: string, schema: Json): CompiledSchema | undefined => {
    if (!compiled.has(kind)) {
      const result = compile(schema, { skipsHardPatterns: true });
      compiled.set(kind, 'problem' in result ? undefined : result);
    }
    return compiled.get(kind);
  };
  const createOf = (kind: string) => (Object.hasOwn(document.creates, kind) ? document.creates[kind] : undefined);
  const check: RequestChecker = (kind, request) => {
    const create = createOf(kind);
    if (create?.schema === undefined) return 'unchecked';
    const schema = compiledFor(kind, create.schema);
    if (schema === undefined) return 'unchecked';
    const about = { value: request, path: create.path, fields: fieldNames(create.schema), isSandbox };
    const broken = schema.validate(fillIn(request));
    if (broken === 'too-much') return 'unchecked';
    const problems = gather(broken).filter((problem) => isKnown(problem, request));
    const meant = meantFields(problems, about.fields);
    const faults = problems
      .filter(({ rule, params }) => !(rule === 'required' && meant.has(String(params.missingProperty))))
      .map((problem) => describeSchemaProblem(problem, about));
    const known = wrongFields(kind, request);
    const unlisted = findUnlistedFields(create.schema, request, about);
    return oneForEachPlace([...faults, ...unlisted]).filter(({ at: [field] }) => !known.has(field));
  };
  check.lists = (kind) => {
    const { schema } = createOf(kind) ?? {};
    return schema !== undefined && fieldSchemas(schema).size > 0;
  };
  return check;
}

function wrongFields(name: string, request: Json): Set<string | number | undefined> {
  const kind = kinds[name];
  if (kind === undefined || !isMap(request)) return new Set();
  const faults = checkRequest(kind, request).filter(({ severity }) => severity !== 'warning');
  return new Set(faults.map(({ at: [field] }) => field));
}

/** Keeps one mistake per value, because a value can break several rules, as an empty string does. */
function oneForEachPlace(faults: readonly RequestFault[]): RequestFault[] {
  const places = new Set<string>();
  return faults.filter(({ at }) => {
    const place = JSON.stringify(at);
    return !places.has(place) && places.add(place);
  });
}

function meantFields(problems: readonly SchemaProblem[], fields: readonly string[]): Set<string> {
  const unknown = problems.flatMap(({ rule, path, params }) =>
    rule === 'additionalProperties' && path.length === 0 ? [String(params.additionalProperty)] : [],
  );
  return new Set(unknown.flatMap((name) => nearestName(name, fields) ?? []));
}

/**
 * Merges the problems of a choice between forms into one, because separate problems would read as if all forms were
 * required. The validator reports the problems of the forms before that of the choice.
 */
function gather(problems: readonly SchemaProblem[]): GatheredProblem[] {
  const gathered: GatheredProblem[] = [];
  for (const problem of problems) {
    if (problem.rule === 'if') continue;
    const isChoice = problem.rule === 'anyOf' || problem.rule === 'oneOf';
    if (!isChoice || Array.isArray(problem.params.passingSchemas)) {
      gathered.push(problem);
      continue;
    }
    let start = gathered.length;
    while (start > 0 && isWithin(gathered[start - 1]?.path ?? [], problem.path)) start -= 1;
    gathered.push({ ...problem, forms: gathered.splice(start) });
  }
  return gathered;
}

function isWithin(path: readonly (string | number)[], outer: readonly (string | number)[]): boolean {
  return outer.every((part, index) => path[index] === part);
}

/** Returns whether a problem only concerns known values. The type of a future output, string, is known. */
function isKnown({ path, rule, params, forms }: GatheredProblem, request: Json): boolean {
  if (forms?.some((form) => !isKnown(form, request)) === true) return false;
  const seen = valueIn(request, path);
  if (seen === unknownValue) return false;
  if (isOpen(seen)) return rule === 'type';
  if (rule === 'required' && valueIn(request, [...path, String(params.missingProperty)]) === unknownValue) return false;
  const judgesAll =
    rule !== 'required' && rule !== 'additionalProperties' && rule !== 'maxItems' && rule !== 'minItems';
  return !(judgesAll && rule !== 'type' && holdsUnknown(seen));
}

function isOpen(value: Json | undefined): boolean {
  return isMap(value) && (Object.hasOwn(value, '$ref') || Array.isArray(value.$text));
}

function holdsUnknown(value: Json | undefined): boolean {
  if (value === unknownValue) return true;
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some(holdsUnknown);
}

/** Replaces references by distinct placeholders, because the outputs of other steps will differ. */
function fillIn(request: Json): Json {
  let count = 0;
  const link = () => {
    count += 1;
    return `${placeholder}/${count}`;
  };
  const fill = (value: Json): Json => {
    if (value === unknownValue || value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(fill);
    if (Object.hasOwn(value, '$ref')) return link();
    if (Array.isArray(value.$text))
      return value.$text.map((part) => (typeof part === 'string' ? part : link())).join('');
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item)]));
  };
  return fill(request);
}

function valueIn(root: Json, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = root;
  for (const part of path) {
    if (value === unknownValue) return unknownValue;
    if (value === null || value === undefined || typeof value !== 'object') return undefined;
    value = Array.isArray(value) ? value[Number(part)] : Object.hasOwn(value, part) ? value[String(part)] : undefined;
  }
  return value;
}

interface About {
  value: Json;
  path: string;
  fields: readonly string[];
  isSandbox: boolean;
}

const mostForms = 6;

function describeSchemaProblem(problem: GatheredProblem, about: About): RequestFault {
  const { message, guess, at } = sayWhat(problem, about);
  if (about.isSandbox) {
    const hint = guess === undefined ? refreshLearns : `${guess}; ${refreshLearns}`;
    return { code: 'MB1506', severity: 'warning', message, hint, at };
  }
  const words = problem.about === undefined ? '' : `: “${problem.about}”`;
  const source = `this rule comes from the service's OpenAPI document, POST ${about.path}${words}`;
  return { code: 'MB1506', message, hint: guess === undefined ? source : `${guess}; ${source}`, at };
}

function fieldNames(schema: Json, depth = 0): string[] {
  if (!isMap(schema) || depth > 4) return [];
  const own = isMap(schema.properties) ? Object.keys(schema.properties) : [];
  const forms = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...new Set([...own, ...forms.flatMap((form) => fieldNames(form, depth + 1))])];
}

function sayWhat(problem: GatheredProblem, about: About): { message: string; guess?: string; at: (string | number)[] } {
  const { path, params, rule } = problem;
  const name = path.length === 0 ? 'the request' : `\`${shorten(path.join('.'))}\``;
  const seen = valueAt(about.value, path);
  const owner = about.isSandbox ? 'the sandbox' : 'the service';
  switch (rule) {
    case 'required':
    case 'dependentRequired': {
      const missing = String(params.missingProperty);
      const within = path.length === 0 ? '' : ` in ${name}`;
      const meant = nearestName(missing, unknownKeys(seen, path.length === 0 ? about.fields : []));
      const guess = meant === undefined ? 'add it' : `add it, or write \`${missing}\` where \`${meant}\` stands`;
      return { message: `\`${shorten(missing)}\` is missing${within}`, guess, at: [...path, missing] };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const unknown = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = path.length === 0 ? about.fields : [];
      const nearest = nearestName(unknown, known);
      const message = `\`${shorten(unknown)}\` is not a field of ${path.length === 0 ? `POST ${about.path}` : name}`;
      const fields = known.length === 0 ? 'remove it' : `fields: ${listNames(known)}`;
      return {
        message,
        guess: nearest === undefined ? fields : `did you mean \`${nearest}\`? ${fields}`,
        at: [...path, unknown],
      };
    }
    case 'enum':
    case 'const': {
      const allowed = (Array.isArray(params.allowedValues) ? params.allowedValues : [params.allowedValue]).map(asText);
      const nearest = typeof seen === 'string' ? nearestName(seen, allowed) : undefined;
      const list = `allowed: ${listNames(allowed.map((text) => shorten(text)))}`;
      return {
        message: `${name} is ${describeSeen(seen)}, which ${owner} does not ${about.isSandbox ? 'know' : 'allow'}`,
        guess: nearest === undefined ? list : `did you mean \`${nearest}\`? ${list}`,
        at: path,
      };
    }
    case 'anyOf':
    case 'oneOf': {
      if (problem.forms === undefined) {
        return {
          message: `${name} matches several variants in the schema of ${owner}; set the fields of one of them`,
          at: path,
        };
      }
      const forms = [...new Set(problem.forms.map((form) => sayWhat(form, about).message))];
      const more = forms.length > mostForms ? ` and ${forms.length - mostForms} more` : '';
      if (forms.length === 1 && forms[0] !== undefined) return { message: forms[0], at: path };
      return {
        message: `${name} fits none of the forms that ${owner} allows`,
        guess: `mistakes by form: ${forms.slice(0, mostForms).join('; ')}${more}`,
        at: path,
      };
    }
    default:
      return { message: `${name} is ${describeSeen(seen)}: it ${problem.message}`, at: path };
  }
}

function unknownKeys(value: Json | undefined, known: readonly string[]): string[] {
  return isMap(value) ? Object.keys(value).filter((key) => !known.includes(key)) : [];
}

function describeSeen(value: Json | undefined): string {
  if (isMap(value) && (Object.hasOwn(value, '$ref') || Object.hasOwn(value, '$text'))) return 'the output of a step';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && value.length > 60) return `a text of ${[...value].length} characters`;
  return describeValue(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface ListedFields {
  byName: Map<string, Json[]>;
  isOpen: boolean;
  isClosed: boolean;
}

const deepest = 12;

/**
 * Finds request fields that the service's own description does not list, if it lists any, because the service may
 * ignore an unknown field and still charge. If the description allows other fields, finds only probable typos of listed
 * fields.
 */
function findUnlistedFields(schema: Json, request: Json, from: { path: string; isSandbox: boolean }): RequestFault[] {
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
      else if (listed.byName.size > 0) faults.push(...describeUnlisted(name, { at, listed, value, ...from }));
    }
  };
  visit([schema], request, []);
  return faults;
}

function describeUnlisted(
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
