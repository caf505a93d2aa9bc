import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { readNotes, type Schema, withoutNotes, withoutReferences } from './schema.ts';

/**
 * A validator as a TypeScript module that needs nothing at run time. Beside it the sentences of the schema and the keys
 * that each map knows, by the pointer that a violation names, so that a violation can be told in words.
 */
export function writeValidator(base: Schema, from: string): string {
  const whole = withoutReferences(base);
  const schema = withoutNotes(whole);
  const ajv = new Ajv({
    allErrors: true,
    ownProperties: true,
    allowUnionTypes: true,
    messages: false,
    code: { source: true, esm: true, lines: true },
  });
  const validate = ajv.compile(schema);
  const written = standalone.default(ajv, validate);
  const name = /^export const validate = (validate\d+);/m.exec(written)?.[1];
  if (name === undefined) throw new Error('internal error: ajv wrote no validator');
  const { expected, keys } = readNotes(whole);
  return `/** Made from ${from} by \`npm run generate\`. */

export interface Violation {
  /** JSON pointer of the value that is wrong. */
  instancePath: string;
  /** JSON pointer of the rule in the schema. */
  schemaPath: string;
  keyword: string;
  params: { [name: string]: unknown };
  /** The key that is wrong, when the rule is about the keys of a map. */
  propertyName?: string;
}

/** What is right, in words, by the pointer of a part of the schema. */
export const expected: { readonly [pointer: string]: string } = ${JSON.stringify(expected, null, 2)};

/** The keys that a map knows, by the pointer of a part of the schema. */
export const knownKeys: { readonly [pointer: string]: readonly string[] } = ${JSON.stringify(keys, null, 2)};

/** Every rule that a value breaks; empty when it is as the schema says. */
export function findViolations(data: unknown): Violation[] {
  ${name}(data);
  return found.${name} ?? [];
}

/** What each function found when it was last called. */
const found: { [name: string]: any } = {};
${typedCode(written)}`;
}

/** ajv writes JavaScript; these few types make it a module that is checked like all others. */
function typedCode(code: string): string {
  const typed = code
    .replace('"use strict";\n', '')
    .replaceAll(/^export .*\n/gm, '')
    .replaceAll(
      /^function (validate\d+)\(data, \{instancePath="".*\}=\{\}\)\{/gm,
      'function $1(data: any, {instancePath=""}: {instancePath?: string} = {}): boolean {',
    )
    .replaceAll(/\{instancePath:([^{}]*?),parentData:[^{}]*?\}/g, '{instancePath:$1}')
    .replaceAll(/\b(validate\d+)\.errors\b/g, 'found.$1')
    .replaceAll('let vErrors = null;', 'let vErrors: any = null;')
    .replaceAll(/^\/\*# sourceURL=.*$\n/gm, '');
  return dropUnused(typed);
}

/** The schemas stand in the code as constants, most of which nothing reads. */
function dropUnused(code: string): string {
  return code
    .split('\n')
    .filter((line) => {
      const name = /^const (schema\d+) = /.exec(line)?.[1];
      return name === undefined || code.split(new RegExp(`\\b${name}\\b`)).length > 2;
    })
    .join('\n');
}
