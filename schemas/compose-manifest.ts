import type { Field, Kind, Model } from '../src/kinds/kind.ts';
import { type Schema, withoutNotes } from './schema.ts';

/**
 * The published schema of the manifest: the base, and the fields of each kind for `with` and `defaults`. Nothing is
 * required in `with`, because defaults may give it, and every value may be a template instead.
 */
export function composeManifest(base: Schema, kinds: Readonly<Record<string, Kind>>): Schema {
  const schema = withoutNotes(base);
  const definitions = partOf(schema, 'definitions');
  const task = partOf(definitions, 'task');
  const taskProperties = partOf(task, 'properties');
  const names = Object.keys(kinds);
  taskProperties.kind = { ...partOf(taskProperties, 'kind'), enum: names };
  task.allOf = names.map((name) => ({
    if: { required: ['kind'], properties: { kind: { const: name } } },
    ...thenPart({ properties: { with: { $ref: `#/definitions/${name}Request` } } }),
  }));
  const properties = partOf(schema, 'properties');
  const defaults = partOf(properties, 'defaults');
  defaults.additionalProperties = false;
  defaults.properties = Object.fromEntries(
    names.map((name) => [
      name,
      { description: `Request fields for every task of kind ${name}.`, $ref: `#/definitions/${name}Request` },
    ]),
  );
  definitions.template = {
    description: 'A template: its value is checked when the manifest is planned.',
    type: 'string',
    pattern: '\\{\\{',
  };
  for (const kind of Object.values(kinds)) definitions[`${kind.name}Request`] = requestSchema(kind);
  return schema;
}

function requestSchema(kind: Kind): Schema {
  const properties: Schema = {};
  for (const [name, field] of Object.entries(kind.fields)) properties[name] = fieldSchema(kind, name, field);
  const rules = Object.entries(kind.model?.models ?? {}).flatMap(([name, model]) => modelRule(kind, name, model));
  return {
    title: `${kind.name} request`,
    description: kind.description,
    type: 'object',
    // What the service does not document may have fields that nobody knows here.
    ...(kind.create.documented && { additionalProperties: false }),
    properties,
    ...(rules.length === 0 ? {} : { allOf: rules }),
  };
}

function fieldSchema(kind: Kind, name: string, field: Field): Schema {
  const description = [
    field.description,
    ...(field.maxLength === undefined ? [] : [`At most ${field.maxLength} characters.`]),
    ...(field.default === undefined ? [] : [`Default: ${field.default}.`]),
  ].join(' ');
  const template = { $ref: '#/definitions/template' };
  // What depends on the model is said by its rule alone: editors offer whatever any part of a schema lists.
  const values = name === kind.model?.field ? Object.keys(kind.model.models) : field.values;
  if (values !== undefined) {
    const list = name === kind.model?.field ? ` ${describeModels(kind)}` : aboutValues(field);
    return {
      description: description + list,
      anyOf: [{ enum: [...values], ...wordsForValues(values, field) }, template],
    };
  }
  switch (field.type) {
    case 'file':
      return { description, type: 'string' };
    case 'string':
      if (field.url === true) return { description, type: 'string', pattern: '^https://|\\{\\{' };
      return { description, type: 'string', ...(field.maxLength === undefined ? {} : { maxLength: field.maxLength }) };
    case 'strings': {
      const item = field.url === true ? { type: 'string', pattern: '^https://|\\{\\{' } : { type: 'string' };
      return { description, anyOf: [{ type: 'array', items: item }, template] };
    }
    case 'number':
    case 'boolean':
      return { description, anyOf: [{ type: field.type }, template] };
    default: {
      const never: never = field.type;
      throw new Error(`internal error: no schema for a field of type ${String(never)}`);
    }
  }
}

/** What a model allows, when the model is written in the same place. */
function modelRule(kind: Kind, name: string, model: Model): Schema[] {
  const limits = Object.entries(model.allows ?? {});
  if (limits.length === 0) return [];
  const properties = Object.fromEntries(
    limits.map(([field, values]) => [
      field,
      values.length === 0 ? false : { anyOf: [{ enum: [...values] }, { $ref: '#/definitions/template' }] },
    ]),
  );
  const field = kind.model?.field ?? 'model';
  return [{ if: { required: [field], properties: { [field]: { const: name } } }, ...thenPart({ properties }) }];
}

/** ` Aria: female, american. Roger: male, american.` */
function aboutValues(field: Field): string {
  const about = Object.entries(field.about ?? {});
  return about.length === 0 ? '' : ` ${about.map(([value, words]) => `${value}: ${words}.`).join(' ')}`;
}

/** What editors show beside each value while it is chosen. */
function wordsForValues(values: readonly string[], { about }: Field): Schema {
  if (about === undefined) return {};
  const words = values.map((value) => about[value] ?? '');
  return { enumDescriptions: words, markdownEnumDescriptions: words };
}

function describeModels(kind: Kind): string {
  return Object.entries(kind.model?.models ?? {})
    .map(([name, model]) => {
      const credits = model.credits === undefined ? '' : ` ${model.credits} credits.`;
      return `${name}: ${model.description}${credits}`;
    })
    .join(' ');
}

function thenPart(schema: Schema): Schema {
  const key = 'then';
  return { [key]: schema };
}

function partOf(schema: Schema, key: string): Schema {
  const part = schema[key];
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    throw new Error(`internal error: the base schema has no ${key}`);
  }
  return part as Schema;
}
