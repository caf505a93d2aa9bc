import { compile } from 'json-schema-to-typescript';
import { type Schema, withoutNotes } from './schema.ts';

/** TypeScript types for what a schema describes: one for each definition that is an object, a list or a choice. */
export async function writeTypes(
  base: Schema,
  { name, parts }: { name: string; parts?: readonly string[] },
): Promise<string> {
  const { $id: _id, title: _title, $defs, ...schema } = withoutNotes(base, ['expected']);
  const definitions = ($defs ?? schema.definitions ?? {}) as { [name: string]: Schema };
  const isPlain = (target: Schema | undefined) => /^(string|integer|number)$/.test(String(target?.type));
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined);
    if (typeof value !== 'object' || value === null) return value;
    if (isAnything(value as Schema)) return { ...value, tsType: "import('../ground/json.ts').Json" };
    const { $ref, ...beside } = value as Schema;
    const target = definitions[String($ref).split('/').at(-1) ?? ''];
    if (target !== undefined)
      return isPlain(target) ? { ...target, ...beside } : { ...beside, allOf: [{ $ref: $ref }] };
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inlined(item)]));
  };
  const named = Object.entries(definitions).filter(([, target]) => !isPlain(target));
  const whole = { ...schema, ...($defs !== undefined && { $defs: Object.fromEntries(named) }) };
  const text = await compile(inlined(whole) as Schema, name, {
    bannerComment: '/** Made from the schema by `npm run generate`. */',
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: false,
    format: false,
  });
  if (parts === undefined) return text;
  const isUsed = (type: string) => type === name || parts.includes(type);
  return text.replaceAll(/^export (?=(?:type|interface) (\w+))/gm, (word, type) => (isUsed(type) ? word : ''));
}

/** A described value without any rule. */
function isAnything(schema: Schema): boolean {
  return typeof schema.description === 'string' && Object.keys(schema).length === 1;
}
