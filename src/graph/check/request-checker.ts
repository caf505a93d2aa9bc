import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap, mapOf, type Path, shorten, unknownValue, valueAt } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { ServiceDocument } from '../../kinds/service-document.ts';
import {
  type CompiledSchema,
  describeProblem,
  type SchemaCompiler,
  type SchemaProblem,
} from '../../manifest/check/json-schema.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import {
  checkRequest,
  describeOpen,
  isOpen,
  type RequestChecker,
  type RequestFault,
  refreshLearns,
} from './check-request.ts';

const placeholder = 'https://example.com/output';

interface Create {
  path: string;
  schema: CompiledSchema;
  fields: ListedFields;
  isSandbox: boolean;
}

/**
 * Makes a checker from the service's OpenAPI document. Requests of kinds that are not in the document are not checked.
 * Problems found with the sandbox's document are only warnings, because the user's service may differ.
 */
export function makeRequestChecker(
  document: ServiceDocument,
  compile: SchemaCompiler,
  { isSandbox = false }: { isSandbox?: boolean } = {},
): RequestChecker {
  const creates = new Map<string, Create | undefined>();
  const read = (kind: string): Create | undefined => {
    const { path, schema } = (Object.hasOwn(document.creates, kind) ? document.creates[kind] : undefined) ?? {};
    if (path === undefined || schema === undefined) return undefined;
    const compiled = compile(schema, { skipsHardPatterns: true });
    return 'problem' in compiled ? undefined : { path, schema: compiled, fields: listedFields(schema), isSandbox };
  };
  const createOf = (kind: string) => {
    if (!creates.has(kind)) creates.set(kind, read(kind));
    return creates.get(kind);
  };
  const check: RequestChecker = (kind, request) => {
    const create = createOf(kind);
    const broken = create?.schema.validate(fillIn(request));
    if (create === undefined || broken === undefined || broken === 'too-much') return 'unchecked';
    const problems = broken.filter((problem) => isKnown(problem, request));
    const meant = meantFields(problems, create.fields);
    const faults = problems
      .filter(({ rule, params }) => !(rule === 'required' && meant.has(String(params.missingProperty))))
      .map((problem) => describeFault(problem, request, create));
    const wrong = wrongFields(kind, request);
    const all = oneForEachPlace([...faults, ...unlistedFields(mapOf(request), create)]);
    return all.filter(({ at: [field] }) => !wrong.has(field));
  };
  check.lists = (kind) => (createOf(kind)?.fields.byName.size ?? 0) > 0;
  return check;
}

function wrongFields(name: string, request: Json): Set<string | number | undefined> {
  const kind = kinds[name];
  if (kind === undefined || !isMap(request)) return new Set();
  const faults = checkRequest(kind, request).filter(({ severity }) => severity !== 'warning');
  return new Set(faults.map(({ at: [field] }) => field));
}

function oneForEachPlace(faults: readonly RequestFault[]): RequestFault[] {
  const places = new Set<string>();
  return faults.filter(({ at }) => {
    const place = JSON.stringify(at);
    return !places.has(place) && places.add(place);
  });
}

function meantFields(problems: readonly SchemaProblem[], { byName }: ListedFields): Set<string> {
  const unknown = problems.flatMap(({ rule, path, params }) =>
    rule === 'additionalProperties' && path.length === 0 ? [String(params.additionalProperty)] : [],
  );
  return new Set(unknown.flatMap((name) => nearestName(name, byName.keys()) ?? []));
}

function isKnown({ path, rule, params, forms }: SchemaProblem, request: Json): boolean {
  if (forms?.some((form) => !isKnown(form, request)) === true) return false;
  const whole = rule === 'required' ? [...path, String(params.missingProperty)] : path;
  if (whole.some((_, index) => valueAt(request, whole.slice(0, index + 1)) === unknownValue)) return false;
  const seen = valueAt(request, path);
  if (isOpen(seen)) return rule === 'type';
  return shallowRules.includes(rule) || !holdsUnknown(seen);
}

const shallowRules = ['type', 'required', 'additionalProperties', 'maxItems', 'minItems'];

function holdsUnknown(value: Json | undefined): boolean {
  if (value === unknownValue) return true;
  if (value === undefined || value === null || typeof value !== 'object') return false;
  return Object.values(value).some(holdsUnknown);
}

/** For the check, replaces each reference by a different link, because a schema can require unique values. */
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

function describeFault(problem: SchemaProblem, value: Json, { path, fields, isSandbox }: Create): RequestFault {
  const { message, hint, at } = describeProblem(problem, {
    value,
    refused: isSandbox ? 'the sandbox does not know' : 'the service does not allow',
    fields: [...fields.byName.keys()],
    nameOf: (part: Path) => (part.length === 0 ? 'the request' : `\`${shorten(part.join('.'))}\``),
    describe: describeSeen,
  });
  const words = problem.about === undefined ? '' : `: “${problem.about}”`;
  const source = isSandbox
    ? refreshLearns
    : `this rule comes from the service's OpenAPI document, POST ${path}${words}`;
  return {
    code: 'MB1506',
    ...(isSandbox && { severity: 'warning' }),
    message,
    hint: hint === undefined ? source : `${hint}; ${source}`,
    at,
  };
}

function describeSeen(value: Json | undefined): string {
  if (typeof value === 'string' && value.length > 60) return `a string of ${[...value].length} characters`;
  return describeOpen(value);
}

interface ListedFields {
  byName: Map<string, Json>;
  isOpen: boolean;
  isClosed: boolean;
}

/**
 * Finds fields that the service's document does not list. The service may ignore an unlisted field and still charge. If
 * the document allows additional fields, returns only probable typos.
 */
function unlistedFields(request: JsonMap, { path, fields, isSandbox }: Create): RequestFault[] {
  const names = [...fields.byName.keys()];
  if (names.length === 0 || fields.isClosed) return [];
  const unused = names.filter((name) => !Object.hasOwn(request, name));
  return Object.keys(request).flatMap((name): RequestFault[] => {
    if (fields.byName.has(name)) return [];
    const meant = nearestField(name, unused);
    if (fields.isOpen && meant === undefined) return [];
    const guess = meant === undefined ? '' : `did you mean \`${meant}\`? `;
    const risk = 'a service may ignore unknown fields and still charge (plan --strict refuses them)';
    return [
      {
        code: 'MB1501',
        severity: 'warning',
        message: `\`${shorten(name)}\` is not a field of POST ${path} in the ${isSandbox ? 'sandbox' : 'service'}'s OpenAPI document`,
        hint: `${guess}fields: ${listNames(names)}; ${isSandbox ? refreshLearns : risk}`,
        at: [name],
        meant,
      },
    ];
  });
}

function nearestField(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const isForm = (one: string) =>
    Math.min(one.length, name.length) >= 3 && (one.startsWith(lower) || lower.startsWith(one));
  return nearestName(name, names) ?? names.find((one) => isForm(one.toLowerCase()));
}

export function listedFields(schema: Json): ListedFields {
  const fields: ListedFields = { byName: new Map(), isOpen: false, isClosed: false };
  const visit = (form: Json | undefined, depth: number): void => {
    if (!isMap(form) || depth > 4) return;
    const required = Array.isArray(form.required) ? form.required.map((name) => [String(name), true] as const) : [];
    for (const [name, own] of [...Object.entries(mapOf(form.properties)), ...required]) {
      if (!fields.byName.has(name)) fields.byName.set(name, own);
    }
    const { additionalProperties: more, unevaluatedProperties: rest, patternProperties: patterns } = form;
    if (more === true || isMap(more) || rest === true || isMap(rest) || isMap(patterns)) fields.isOpen = true;
    if (more === false || rest === false) fields.isClosed = true;
    const forms = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => (Array.isArray(form[key]) ? form[key] : []));
    for (const one of [...forms, form.if, form.then, form.else, form.not]) visit(one, depth + 1);
  };
  visit(schema, 0);
  return fields;
}
