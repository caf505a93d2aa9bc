import type { ErrorObject, Schema, ValidateFunction } from 'ajv';
import type { Json } from '../json.ts';
import { describeValue, isMap } from './values.ts';

/** Where a value breaks a schema, and which rule it is. */
export interface SchemaProblem {
  /** From the value that was checked to the part that is wrong. */
  path: (string | number)[];
  /** The keyword: `enum`, `maximum`, `required`, … */
  rule: string;
  /** The rule in words, as in `must be >= 1`. */
  message: string;
  params: Readonly<Record<string, unknown>>;
  /** What the schema says about the part that is wrong. */
  about?: string;
}

export interface CompiledSchema {
  validate(value: Json): SchemaProblem[];
}

export interface CompileOptions {
  /** Texts count as numbers and booleans where the schema asks for those: a CSV file has only texts. */
  textsAreValues?: boolean;
}

/** A schema of somebody else's as a check; or why it is none. Never fetches anything. */
export type SchemaCompiler = (schema: Json, options?: CompileOptions) => CompiledSchema | { problem: string };

/** More problems of one value tell nobody anything. */
const mostProblems = 20;

/** Loads the validator, which is only needed for schemas that are not our own. */
export async function loadSchemaCompiler(): Promise<SchemaCompiler> {
  const [{ Ajv2020 }, { Ajv }, formats] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv'),
    import('ajv-formats'),
  ]);
  const settings = { strict: false, allErrors: true, ownProperties: true, verbose: true, logger: false } as const;
  return (schema, { textsAreValues = false } = {}) => {
    if (typeof schema !== 'boolean' && !isMap(schema)) return { problem: `it is ${describeValue(schema)}, not a map` };
    const isDraft7 = typeof dialectOf(schema) === 'string' && /draft-0?7/.test(dialectOf(schema) ?? '');
    const Validator = isDraft7 ? Ajv : Ajv2020;
    try {
      const ajv = new Validator({ ...settings, ...(textsAreValues && { coerceTypes: true }) });
      formats.default.default(ajv);
      const validate = ajv.compile(schema as Schema);
      // Such a check answers later, and a row that breaks it would pass here.
      if ('$async' in validate) return { problem: '`$async` cannot be used' };
      return { validate: (value) => problemsOf(validate, structuredClone(value)) };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  };
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
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return undefined;
  return typeof schema.$schema === 'string' ? schema.$schema : undefined;
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
