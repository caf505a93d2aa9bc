import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { readNotes, type Schema, withoutNotes, withoutReferences } from './schema.ts';

/**
 * A validator as a TypeScript module that needs nothing at run time. Beside it the sentences of the schema and the keys
 * that each map knows, by the pointer that a violation names, so that a violation can be explained in words.
 */
export function writeValidator(base: Schema, from: string, { finds }: { finds: 'first' | 'all' }): string {
  const whole = withoutReferences(base);
  // Our schemas use only what all drafts have.
  const { $schema: _draft, ...schema } = withTags(withoutNotes(whole, ['expected', 'tsType', 'description', 'title']));
  const ajv = new Ajv({
    allErrors: finds === 'all',
    ownProperties: true,
    allowUnionTypes: true,
    messages: false,
    // Lengths in UTF-16 units: those in characters take a function of ajv's at run time.
    unicode: false,
    // Times are looked at where they are read.
    validateFormats: false,
    discriminator: true,
    logger: false,
    code: { source: true, esm: true, lines: true },
  });
  const validate = ajv.compile(schema);
  const written = standalone.default(ajv, validate);
  const name = /^export const validate = (validate\d+);/m.exec(written)?.[1];
  if (name === undefined) throw new Error('internal error: ajv wrote no validator');
  const { expected, keys } = readNotes(whole);
  return `// @ts-nocheck – what ajv writes is JavaScript.
/** Made from ${from} by \`npm run generate\`. */

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
  return ${name}.errors ?? [];
}

${ownCode(written)}`;
}

/** Turns each `tag` into what ajv calls a discriminator. */
function withTags<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withTags) as Part;
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, item]) =>
    key === 'tag' && 'oneOf' in part ? ['discriminator', { propertyName: item }] : [key, withTags(item)],
  );
  return Object.fromEntries(entries);
}

/** The function alone, and nothing else that is exported. */
function ownCode(code: string): string {
  const own = code
    .replace('"use strict";\n', '')
    .replaceAll(/^export .*\n/gm, '')
    .replaceAll(/^\/\*# sourceURL=.*$\n/gm, '');
  return dropUnused(own);
}

/** Ajv writes every schema as a constant; nothing reads most of them. */
function dropUnused(code: string): string {
  return code
    .split('\n')
    .filter((line) => {
      const name = /^const (schema\d+) = /.exec(line)?.[1];
      return name === undefined || code.split(new RegExp(`\\b${name}\\b`)).length > 2;
    })
    .join('\n');
}
