import type { ErrorObject, Format, Schema, ValidateFunction } from 'ajv';
import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, mapOf, shorten } from '../../ground/values.ts';

export interface SchemaProblem {
  /** Path within the checked value to the wrong part. */
  path: (string | number)[];
  /** Keyword of the schema: `enum`, `maximum`, `required`, … */
  rule: string;
  /** For example `must be >= 1`. */
  message: string;
  params: Readonly<Record<string, unknown>>;
  /** Description of the wrong part in the schema. */
  about?: string;
}

export interface CompiledSchema {
  /** Returns `too-much` if the check would take too long, alone or together with those before it. */
  validate(value: Json): SchemaProblem[] | 'too-much';
}

interface CompileOptions {
  /** Accepts strings as numbers and booleans where the schema requires these, because a CSV file has only strings. */
  textsAreValues?: boolean;
  /** Accepts every string where a pattern cannot be matched in bounded time. Without it such a schema is refused. */
  skipsHardPatterns?: boolean;
}

/** Compiles a user's or a service's schema, or returns why it cannot. Fetches nothing; time is bounded. */
export type SchemaCompiler = (schema: Json, options?: CompileOptions) => CompiledSchema | { problem: string };

const mostProblems = 20;
const mostPatternSize = 200_000;
/** Limit for one value: the parts and patterns of the schema, times the size of the value. It takes a few seconds. */
const mostSteps = 50_000_000;
/** Time limit for all values of one schema, and the time that each value adds to it. */
const firstMs = 3000;
const eachMs = 0.2;
/** Longest text that is checked by a format, because the patterns of formats take quadratic time. */
const longestFormatted = 4000;

/**
 * Loads the validator, which only schemas of users and services need. Such a schema may be malicious, so its size is
 * limited with its references followed, its patterns never backtrack, and the work for each value is limited. `now`:
 * time in ms from any origin; without it only the work is limited, not the time.
 */
export async function loadSchemaCompiler(now: () => number = () => 0): Promise<SchemaCompiler> {
  const [{ Ajv2020 }, { Ajv }, { fullFormats }, { compileLinearPattern, PatternProblem }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv'),
    import('ajv-formats/dist/formats.js'),
    import('./linear-pattern.ts'),
  ]);
  const metaOf = new Map<string, InstanceType<typeof Ajv>>();
  const checkForm = (Validator: typeof Ajv, schema: Schema) => {
    const known = metaOf.get(Validator.name) ?? new Validator(settings);
    metaOf.set(Validator.name, known);
    if (!known.validateSchema(schema)) throw new Error(`schema is invalid: ${known.errorsText()}`);
  };
  return (schema, { textsAreValues = false, skipsHardPatterns = false } = {}) => {
    if (typeof schema !== 'boolean' && !isMap(schema)) return { problem: `it is ${describeValue(schema)}, not a map` };
    const isDraft7 = typeof dialectOf(schema) === 'string' && /draft-0?7/.test(dialectOf(schema) ?? '');
    const Validator = isDraft7 ? Ajv : Ajv2020;
    const patterns = new Map<string, { test(text: string): boolean }>();
    let patternSize = 0;
    const read = (pattern: string) => {
      try {
        const { test, size } = compileLinearPattern(pattern);
        patternSize += size;
        if (patternSize > mostPatternSize) throw new Error('its patterns are too large');
        // The validator distinguishes patterns by this string.
        return { test, toString: () => pattern };
      } catch (error) {
        if (!(error instanceof PatternProblem)) throw error;
        if (skipsHardPatterns && isExpression(pattern)) return { test: () => true, toString: () => pattern };
        throw new Error(`the pattern ${shorten(pattern)} ${error.message}`);
      }
    };
    const regExp = (pattern: string) => {
      const known = patterns.get(pattern) ?? read(pattern);
      patterns.set(pattern, known);
      return known;
    };
    regExp.code = 'linear';
    const compile = (allErrors: boolean) => {
      const code = { ...settings.code, regExp };
      const ajv = new Validator({
        ...settings,
        ...{ allErrors, code, validateSchema: false, ...(textsAreValues && { coerceTypes: true as const }) },
      });
      for (const [name, format] of Object.entries(fullFormats)) ajv.addFormat(name, shortFormat(format));
      // Strings of a parsed file may be slices of it, which are a hundred times slower to compare.
      return ajv.compile(JSON.parse(JSON.stringify(schema)) as Schema);
    };
    try {
      const parts = countParts(schema);
      checkForm(Validator as typeof Ajv, schema as Schema);
      const quick = compile(false);
      // An asynchronous check returns a promise, so that a wrong value would be accepted here.
      if ('$async' in quick) return { problem: '`$async` cannot be used' };
      const comparesEntries = JSON.stringify(schema).includes('"uniqueItems"');
      let thorough: ValidateFunction | undefined;
      let leftMs = firstMs;
      return {
        validate(value) {
          const steps = (parts + patternSize) * weightOf(value, comparesEntries);
          if (steps > mostSteps || leftMs <= 0) return 'too-much';
          const begunAt = now();
          const first = check(quick, value);
          // Finds all problems of a wrong value, instead of the first.
          if (first !== 'too-much' && first.length > 0) thorough ??= compile(true);
          const all =
            thorough === undefined || first === 'too-much' || first.length === 0 ? first : check(thorough, value);
          leftMs += eachMs - (now() - begunAt);
          return all === 'too-much' ? first : all;
        },
      };
    } catch (error) {
      if (error instanceof RangeError) return { problem: 'it is too large' };
      if (error instanceof SchemaRefusal) return { problem: `it ${error.message}` };
      return { problem: error instanceof Error ? error.message : String(error) };
    }
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

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}

function check(validate: ValidateFunction, value: Json): SchemaProblem[] | 'too-much' {
  try {
    return problemsOf(validate, structuredClone(value));
  } catch (error) {
    // The value is nested too deeply.
    if (error instanceof RangeError) return 'too-much';
    throw error;
  }
}

function problemsOf(validate: ValidateFunction, value: Json): SchemaProblem[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).slice(0, mostProblems).map((error) => ({
    path: readPointer(error.instancePath, value),
    rule: error.keyword,
    message: error.message ?? 'does not match',
    params: error.params as Record<string, unknown>,
    ...aboutOf(error),
  }));
}

function aboutOf({ parentSchema }: ErrorObject): { about?: string } {
  const about: unknown = parentSchema?.description ?? parentSchema?.title;
  return typeof about === 'string' && about !== '' ? { about: about.slice(0, 300) } : {};
}

function dialectOf(schema: Json): string | undefined {
  const dialect = mapOf(schema).$schema;
  return typeof dialect === 'string' ? dialect : undefined;
}

function readPointer(pointer: string, root: Json): (string | number)[] {
  const path: (string | number)[] = [];
  let value: Json | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const isList: boolean = Array.isArray(value);
    path.push(isList ? Number(name) : name);
    value = isList
      ? (value as Json[])[Number(name)]
      : value !== null && typeof value === 'object'
        ? (value as { [key: string]: Json })[name]
        : undefined;
  }
  return path;
}

const mostParts = 10_000;
const mostCharacters = 1_000_000;

/** Reason why a schema is not used, in words that follow “it”. */
class SchemaRefusal extends Error {}

/**
 * Counts the parts by which a value is checked, with each reference followed. Throws `SchemaRefusal` if there are too
 * many, or if their number is unknown: for a part that refers to itself, and for references other than `#/…`.
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
      if (parts > mostParts) throw new SchemaRefusal(`has more than ${mostParts} parts, with its references followed`); // I23 (size)
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
    const isInside: boolean = found !== null && typeof found === 'object' && Object.hasOwn(found, name);
    found = isInside ? (found as { [key: string]: Json })[name] : undefined;
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

/** Measures a value: the number of its parts, where long texts, and pairs of entries in a list, count as more. */
function weightOf(value: Json, comparesEntries: boolean): number {
  if (typeof value === 'string') return 1 + value.length / 64;
  if (value === null || typeof value !== 'object') return 1;
  const entries = Object.entries(value);
  const pairs = comparesEntries && Array.isArray(value) ? entries.length ** 2 / 64 : 0;
  return entries.reduce((sum, [key, item]) => sum + 1 + key.length / 64 + weightOf(item, comparesEntries), 1 + pairs);
}
