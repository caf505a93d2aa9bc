import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap, mapOf } from '../../ground/values.ts';
import { code } from './markdown.ts';

/** Every key of a manifest as Markdown, from its published schema: type, default, words, and an example. */
export function keyReference(schema: JsonMap): string {
  const definitions = mapOf(schema.definitions);
  const task = mapOf(definitions.task);
  return [
    '## Of a manifest\n',
    ...propertiesOf(schema).flatMap(([name, one]) => entriesOf(name, one, requiredOf(schema), definitions)),
    '\n## Of a task\n',
    ...propertiesOf(task).flatMap(([name, one]) => entriesOf(name, one, requiredOf(task), definitions)),
  ].join('\n');
}

/** A key with the keys below it. What a request takes is told by its kind. */
function entriesOf(path: string, schema: JsonMap, required: readonly string[], definitions: JsonMap): string[] {
  const { default: absent, description, examples } = schema;
  const notes = [
    typesOf(schema, definitions),
    ...(required.includes(path) ? ['required'] : []),
    ...(absent === undefined ? [] : [`default ${code(flow(absent))}`]),
  ];
  const name = path.split('.').at(-1) ?? path;
  const isShown = String(description).includes(`\`${name}: `);
  const shown =
    Array.isArray(examples) && !isShown ? examples.map((value) => code(`${name}: ${flow(value)}`)).join(', ') : '';
  const own = [`### ${code(path)}\n`, `${notes.join(', ')}. ${String(description)}${shown && ` As in ${shown}.`}\n`];
  const below = path === 'defaults' ? [] : propertiesOf(schema);
  return [...own, ...below.flatMap(([name, one]) => entriesOf(`${path}.${name}`, one, [], definitions))];
}

function propertiesOf({ properties }: JsonMap): [string, JsonMap][] {
  return Object.entries(mapOf(properties)).map(([name, one]) => [name, mapOf(one)]);
}

function requiredOf({ required }: JsonMap): string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

const words: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'map',
};

function typesOf(schema: JsonMap, definitions: JsonMap): string {
  const { type, enum: values, $ref } = schema;
  if (Array.isArray(values) && values.length <= 5) return `one of ${values.map((one) => code(flow(one))).join(', ')}`;
  if (typeof $ref === 'string') return typesOf(mapOf(definitions[$ref.replace('#/definitions/', '')]), definitions);
  const all = [type].flat().map((one) => words[String(one)] ?? '');
  return schema.const !== undefined
    ? `always ${code(flow(schema.const))}`
    : all.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

/** A value as YAML in one line, as people write it. */
function flow(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (isMap(value)) {
    const parts = Object.entries(value).map(
      ([key, one]) => `${/^[\w/-]+$/.test(key) ? key : `"${key}"`}: ${flow(one)}`,
    );
    return `{ ${parts.join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  if (value === '\t') return '"\\t"';
  return /^\d*[A-Za-z][\w ./-]*$/.test(value) ? value : `"${value}"`;
}
