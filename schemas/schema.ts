/** A JSON Schema, or a part of one. */
export type Schema = { [key: string]: unknown };

/**
 * Our schemas hold three notes of our own: `expected` says beside a rule what is right in words, so that rule and
 * sentence stay together; `tsType` is read by the writer of types; `tag` names the property that tells which choice of a
 * `oneOf` a value is, so that the validator reports what is wrong with that one. Published schemas do without.
 */
export function withoutNotes(schema: Schema, notes: readonly string[] = ['expected', 'tsType', 'tag']): Schema {
  return strip(schema, notes) as Schema;
}

function strip(value: unknown, notes: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => strip(item, notes));
  if (!isSchema(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !notes.includes(key) || typeof item !== 'string')
      .map(([key, item]) => [key, strip(item, notes)]),
  );
}

/** The same schema with every `#/definitions/…` or `#/$defs/…` written out where it is used, so that each rule has one pointer. */
export function withoutReferences(schema: Schema): Schema {
  const { definitions, $defs = definitions, ...rest } = schema;
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (!isSchema(value)) return value;
    if (typeof value.$ref === 'string') {
      const name = value.$ref.replace(/^#\/(definitions|\$defs)\//, '');
      const target = isSchema($defs) ? $defs[name] : undefined;
      if (target === undefined) throw new Error(`internal error: no definition ${value.$ref}`);
      return resolve(target);
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item)]));
  };
  return resolve(rest) as Schema;
}

/** By JSON pointer: what each part of a schema expects, in words, and which keys it knows. */
export function readNotes(schema: Schema): { expected: Record<string, string>; keys: Record<string, string[]> } {
  const expected: Record<string, string> = {};
  const keys: Record<string, string[]> = {};
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) visit(item, `${pointer}/${key}`);
    if (!isSchema(value)) return;
    if (typeof value.expected === 'string') expected[pointer] = value.expected;
    if (isSchema(value.properties) && (value.additionalProperties === false || value.type === 'object')) {
      keys[pointer] = Object.keys(value.properties);
    }
  };
  visit(schema, '#');
  return { expected, keys };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
