import type { ErrorObject, Format, Schema, ValidateFunction } from 'ajv';
import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, mapOf, messageOf, ownValue, type Path, shorten, valueAt } from '../../ground/values.ts';
import { suggestName } from '../suggest.ts';

export interface SchemaProblem {
  path: (string | number)[];
  rule: string;
  message: string;
  params: Readonly<Record<string, unknown>>;
  about?: string;
  /** If a value fits none of several alternatives: the problems of each alternative. */
  forms?: SchemaProblem[];
}

export interface CompiledSchema {
  /** Returns `too-much` if this check, or all checks of the schema together, would take too long. */
  validate(value: Json): SchemaProblem[] | 'too-much';
}

interface CompileOptions {
  /** Accepts strings as numbers and booleans, because a CSV file contains only strings. */
  textsAreValues?: boolean;
  /** Lets a pattern that may take unbounded time accept every string. By default, its schema is refused. */
  skipsHardPatterns?: boolean;
}

/** Compiles a schema in bounded time, without network requests. Returns a `problem` if the schema cannot be used. */
export type SchemaCompiler = (schema: Json, options?: CompileOptions) => CompiledSchema | { problem: string };

const mostProblems = 20;
/**
 * Work limit for one value: size of the schema, including patterns, times the size of the value. Takes a few seconds.
 */
const mostSteps = 50_000_000;
/** Time limit for all values of one schema. Each value adds `eachMs`. */
const firstMs = 3000;
const eachMs = 0.2;
/** Longer texts are not checked against a format, because format patterns take quadratic time. */
const longestFormatted = 4000;

/**
 * Loads the validator. A schema may be malicious, so three limits apply: the size with all references followed,
 * patterns that never backtrack, and the work for each value. `now`: time in ms from any origin. Without `now`, there
 * is no time limit.
 */
export async function loadSchemaCompiler(now: () => number = () => 0): Promise<SchemaCompiler> {
  const [{ Ajv2020 }, { Ajv }, { fullFormats }, { makeMatcher }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv'),
    import('ajv-formats/dist/formats.js'),
    import('./linear-pattern.ts'),
  ]);
  const formCheckers = new Map<typeof Ajv, InstanceType<typeof Ajv>>();
  const checkForm = (Validator: typeof Ajv, schema: Schema) => {
    const checker = formCheckers.get(Validator) ?? new Validator(settings);
    formCheckers.set(Validator, checker);
    if (!checker.validateSchema(schema)) throw new Error(`schema is invalid: ${checker.errorsText()}`);
  };
  return (schema, { textsAreValues = false, skipsHardPatterns = false } = {}) => {
    if (typeof schema !== 'boolean' && !isMap(schema)) return { problem: `it is ${describeValue(schema)}, not a map` };
    const Validator = (isDraft7(schema) ? Ajv : Ajv2020) as typeof Ajv;
    const { regExp, sizeOfPatterns } = makeMatcher(skipsHardPatterns);
    const compile = (allErrors: boolean) => {
      const code = { ...settings.code, regExp };
      const own = { allErrors, code, validateSchema: false, coerceTypes: textsAreValues };
      const validator = new Validator({ ...settings, ...own });
      for (const [name, format] of Object.entries(fullFormats)) validator.addFormat(name, shortFormat(format));
      // Strings of a parsed file may be slices of it, which are a hundred times slower to compare.
      return validator.compile(JSON.parse(JSON.stringify(schema)) as Schema);
    };
    try {
      const parts = countParts(schema);
      checkForm(Validator, schema as Schema);
      const quick = compile(false);
      // An asynchronous check returns a promise, which would be treated as "valid".
      if ('$async' in quick) return { problem: '`$async` cannot be used' };
      const comparesEntries = JSON.stringify(schema).includes('"uniqueItems"');
      const stepsFor = (value: Json) => (parts + sizeOfPatterns()) * weightOf(value, comparesEntries);
      return boundedCheck({ quick, compileThorough: () => compile(true), stepsFor, now });
    } catch (error) {
      if (error instanceof RangeError) return { problem: 'it is too large' };
      if (error instanceof SchemaRefusal) return { problem: `it ${error.message}` };
      return { problem: messageOf(error) };
    }
  };
}

function isDraft7(schema: Json): boolean {
  const dialect = mapOf(schema).$schema;
  return typeof dialect === 'string' && /draft-0?7/.test(dialect);
}

function boundedCheck(of: {
  quick: ValidateFunction;
  compileThorough(): ValidateFunction;
  stepsFor(value: Json): number;
  now(): number;
}): CompiledSchema {
  let thorough: ValidateFunction | undefined;
  let leftMs = firstMs;
  return {
    validate(value) {
      if (of.stepsFor(value) > mostSteps || leftMs <= 0) return 'too-much';
      const begunAt = of.now();
      let found = check(of.quick, value);
      if (found !== 'too-much' && found.length > 0) {
        thorough ??= of.compileThorough();
        const all = check(thorough, value);
        if (all !== 'too-much') found = all;
      }
      leftMs += eachMs - (of.now() - begunAt);
      return found;
    },
  };
}

function shortFormat(format: Format): Format {
  const isShort = (text: unknown) => typeof text === 'string' && text.length <= longestFormatted;
  if (format instanceof RegExp) return (text: string) => isShort(text) && format.test(text);
  return typeof format === 'function' ? (text: string) => isShort(text) && format(text) : format;
}

const settings = {
  strict: false,
  ownProperties: true,
  verbose: true,
  logger: false,
  // Each referenced part is compiled once, even if there are several references to it.
  inlineRefs: false,
  code: { optimize: false },
} as const;

function check(validate: ValidateFunction, value: Json): SchemaProblem[] | 'too-much' {
  try {
    return problemsOf(validate, structuredClone(value));
  } catch (error) {
    // A RangeError means that the value is nested too deeply.
    if (error instanceof RangeError) return 'too-much';
    throw error;
  }
}

function problemsOf(validate: ValidateFunction, value: Json): SchemaProblem[] {
  if (validate(value)) return [];
  const problems = (validate.errors ?? []).slice(0, mostProblems).map((error) => ({
    path: readPointer(error.instancePath, value),
    rule: error.keyword,
    message: error.message ?? 'does not match',
    params: error.params as Record<string, unknown>,
    ...aboutOf(error),
  }));
  return gather(problems);
}

/**
 * Merges the problems of alternatives (`anyOf`) into one problem. Separate problems would read as if every alternative
 * were required. The validator reports the problems of the alternatives before the problem of the whole value.
 */
function gather(problems: readonly SchemaProblem[]): SchemaProblem[] {
  const gathered: SchemaProblem[] = [];
  for (const problem of problems) {
    if (problem.rule === 'if') continue;
    const isChoice = problem.rule === 'anyOf' || problem.rule === 'oneOf';
    const isNone = isChoice && !Array.isArray(problem.params.passingSchemas);
    const isOutside = ({ path }: SchemaProblem) => problem.path.some((part, index) => path[index] !== part);
    const forms = isNone ? gathered.splice(gathered.findLastIndex(isOutside) + 1) : undefined;
    gathered.push(forms === undefined ? problem : { ...problem, forms });
  }
  return gathered;
}

const mostCompared = 2000;
const mostForms = 6;

interface CheckedValue {
  value: Json;
  fields: readonly string[];
  refused: string;
  nameOf(path: Path): string;
  describe(value: Json | undefined): string;
}

export function describeProblem(
  problem: SchemaProblem,
  of: CheckedValue,
): { message: string; hint?: string; at: (string | number)[] } {
  const { path, params, rule, forms } = problem;
  const name = of.nameOf(path);
  const value = valueAt(of.value, path);
  const seen = `${name} is ${of.describe(value)}`;
  switch (rule) {
    case 'required':
    case 'dependentRequired': {
      const missing = String(params.missingProperty);
      return { message: `\`${shorten(missing)}\` is missing in ${name}`, hint: 'add it', at: [...path, missing] };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const unknown = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = path.length === 0 ? of.fields : [];
      const hint = known.length === 0 ? 'remove it' : suggestName(unknown, known, { what: 'fields' });
      return { message: `\`${shorten(unknown)}\` is not a field of ${name}`, hint, at: [...path, unknown] };
    }
    case 'enum':
    case 'const': {
      const values: unknown[] = Array.isArray(params.allowedValues) ? params.allowedValues : [params.allowedValue];
      const allowed = values.slice(0, mostCompared).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
      const hint = suggestName(typeof value === 'string' ? value : '', allowed, { what: 'allowed' });
      return { message: `${seen}, which ${of.refused}`, hint, at: path };
    }
    default: {
      if (forms === undefined) return { message: `${seen}: it ${problem.message}`, at: path };
      const mistakes = [...new Set(forms.map((form) => describeProblem(form, of).message))];
      const [only, another] = mistakes;
      if (only !== undefined && another === undefined) return { message: only, at: path };
      const more = mistakes.length > mostForms ? ` and ${mistakes.length - mostForms} more` : '';
      const hint = `mistakes for each allowed form: ${mistakes.slice(0, mostForms).join('; ')}${more}`;
      return { message: `${name} fits none of the allowed forms`, hint, at: path };
    }
  }
}

function aboutOf({ parentSchema }: ErrorObject): { about?: string } {
  const about: unknown = parentSchema?.description ?? parentSchema?.title;
  return typeof about === 'string' && about !== '' ? { about: about.slice(0, 300) } : {};
}

export function readPointer(pointer: string, root: Json): (string | number)[] {
  const path: (string | number)[] = [];
  for (const part of pointer.split('/').slice(1)) {
    const isList = Array.isArray(valueAt(root, path));
    path.push(isList ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return path;
}

const mostParts = 10_000;
const mostCharacters = 1_000_000;

/** Reason why a schema is refused, for example "has a part that refers to itself". */
class SchemaRefusal extends Error {}

/**
 * Counts the parts of a schema, with all references followed. Throws `SchemaRefusal` if a part refers to itself, if
 * there are too many parts, or for references other than `#/…`.
 */
function countParts(schema: Json): number {
  if (JSON.stringify(schema).length > mostCharacters) {
    throw new SchemaRefusal(`has more than ${mostCharacters} characters`);
  }
  const known = new Map<Json, number | 'open'>();
  const count = (part: Json, isRoot = false): number => {
    if (part === null || typeof part !== 'object') return 1;
    const before = known.get(part);
    if (before === 'open') throw new SchemaRefusal('has a part that refers to itself, which is not supported');
    if (before !== undefined) return before;
    known.set(part, 'open');
    let parts = 1;
    for (const [key, item] of Object.entries(part)) {
      const isReference = /^\$(?:dynamic|recursive)?[rR]ef$/.test(key) && typeof item === 'string';
      if (isReference) parts += count(follow(schema, item)); // I23 (references)
      if (key === '$id' && typeof item === 'string' && !isRoot) {
        throw new SchemaRefusal('has an `$id` below its root, which is not supported');
      }
      parts += count(item);
      if (parts > mostParts) throw new SchemaRefusal(`has more than ${mostParts} parts with all references followed`); // I23 (size)
    }
    known.set(part, parts);
    return parts;
  };
  return count(schema, true);
}

function follow(schema: Json, reference: string): Json {
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new SchemaRefusal(
      `refers to ${reference.slice(0, 80)}, and only references such as #/$defs/name are followed`,
    );
  }
  let found: Json | undefined = schema;
  for (const part of reference.split('/').slice(1)) {
    const name = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = ownValue(found, name);
    if (found === undefined) throw new SchemaRefusal(`refers to ${reference.slice(0, 80)}, which does not exist`);
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function weightOf(value: Json, comparesEntries: boolean): number {
  if (typeof value === 'string') return 1 + value.length / 64;
  if (value === null || typeof value !== 'object') return 1;
  const entries = Object.entries(value);
  const pairs = comparesEntries && Array.isArray(value) ? entries.length ** 2 / 64 : 0;
  return entries.reduce((sum, [key, item]) => sum + 1 + key.length / 64 + weightOf(item, comparesEntries), 1 + pairs);
}
