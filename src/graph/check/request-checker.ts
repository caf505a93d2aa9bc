import type { Json } from '../../ground/json.ts';
import { isMap, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { ServiceDocument } from '../../kinds/service-document.ts';
import type { CompiledSchema, SchemaCompiler, SchemaProblem } from '../../manifest/check/json-schema.ts';
import { nearestName } from '../../manifest/suggest.ts';
import { checkRequest } from './check-request.ts';
import { describeSchemaProblem, fieldNames, type GatheredProblem } from './describe-schema-problem.ts';
import type { RequestChecker, RequestFault } from './request-fault.ts';
import { fieldSchemas, findUnlistedFields } from './unlisted-fields.ts';

export type { RequestChecker } from './request-fault.ts';

/** Stands for an output of another step, which will be a public link. */
const placeholder = 'https://example.com/output';

/** Makes a checker from the service's document. Kinds that it does not describe stay unchecked. */
export function makeRequestChecker(document: ServiceDocument, compile: SchemaCompiler): RequestChecker {
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
    const about = { value: request, path: create.path, fields: fieldNames(create.schema) };
    const found = schema.validate(fillIn(request));
    if (found === 'too-much') return 'unchecked';
    const problems = gather(found).filter((problem) => isKnown(problem, request));
    const meant = meantFields(problems, about.fields);
    const faults = problems
      .filter(({ rule, params }) => !(rule === 'required' && meant.has(String(params.missingProperty))))
      .map((problem) => describeSchemaProblem(problem, about));
    const told = wrongFields(kind, request);
    const unlisted = findUnlistedFields(create.schema, request, create);
    return oneForEachPlace([...faults, ...unlisted]).filter(({ at: [field] }) => !told.has(field));
  };
  check.lists = (kind) => {
    const { schema } = createOf(kind) ?? {};
    return schema !== undefined && fieldSchemas(schema).size > 0;
  };
  return check;
}

/** Fields that the documentation alone shows to be wrong, which was reported. */
function wrongFields(name: string, request: Json): Set<string | number | undefined> {
  const kind = kinds[name];
  if (kind === undefined || !isMap(request)) return new Set();
  const faults = checkRequest(kind, request).filter(({ severity }) => severity !== 'warning');
  return new Set(faults.map(({ at: [field] }) => field));
}

/** Keeps one mistake per value: an empty text, for example, breaks several rules. */
function oneForEachPlace(faults: readonly RequestFault[]): RequestFault[] {
  const places = new Set<string>();
  return faults.filter(({ at }) => {
    const place = JSON.stringify(at);
    return !places.has(place) && places.add(place);
  });
}

/** Finds fields that are missing only because of a typo, which is reported where it is. */
function meantFields(problems: readonly SchemaProblem[], fields: readonly string[]): Set<string> {
  const unknown = problems.flatMap(({ rule, path, params }) =>
    rule === 'additionalProperties' && path.length === 0 ? [String(params.additionalProperty)] : [],
  );
  return new Set(unknown.flatMap((name) => nearestName(name, fields) ?? []));
}

/**
 * Merges a choice of forms into one problem: reported separately, its parts would read as if all of them were needed.
 * The validator reports the parts of a choice before the choice itself.
 */
function gather(problems: readonly SchemaProblem[]): GatheredProblem[] {
  const told: GatheredProblem[] = [];
  for (const problem of problems) {
    if (problem.rule === 'if') continue;
    const isChoice = problem.rule === 'anyOf' || problem.rule === 'oneOf';
    if (!isChoice || Array.isArray(problem.params.passingSchemas)) {
      told.push(problem);
      continue;
    }
    let start = told.length;
    while (start > 0 && isWithin(told[start - 1]?.path ?? [], problem.path)) start -= 1;
    told.push({ ...problem, forms: told.splice(start) });
  }
  return told;
}

function isWithin(path: readonly (string | number)[], outer: readonly (string | number)[]): boolean {
  return outer.every((part, index) => path[index] === part);
}

/** Tells whether a problem concerns known values only; of an output to come, only that it is a text is known. */
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

/** Fills in distinct placeholders, because the outputs of other steps will differ. */
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

/** Returns the value at a path; the placeholder of an open value has no parts. */
function valueIn(root: Json, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = root;
  for (const part of path) {
    if (value === unknownValue) return unknownValue;
    if (value === null || value === undefined || typeof value !== 'object') return undefined;
    value = Array.isArray(value) ? value[Number(part)] : Object.hasOwn(value, part) ? value[String(part)] : undefined;
  }
  return value;
}
