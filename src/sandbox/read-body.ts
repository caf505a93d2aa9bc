import { type Call, isObject, type Json, type JsonObject, Refusal } from './wire.ts';

export function readJson(call: Call): { body: Json; text: string } {
  if (call.body.type !== 'whole') throw tooLarge('The body is larger than 10 MB.');
  if (!/^application\/json\s*(;|$)/i.test(call.header('content-type') ?? '')) {
    const message = 'The header Content-Type must be application/json.';
    throw new Refusal({ status: 400, code: 'invalid_content_type', message });
  }
  const text = call.body.bytes.toString('utf8');
  try {
    return { body: JSON.parse(text) as Json, text };
  } catch {
    throw new Refusal({ status: 400, code: 'invalid_json', message: 'The body is not valid JSON.' });
  }
}

export function checkBody(body: Json, schema: BodySchema): JsonObject {
  const problem = findSchemaProblem(body, schema);
  if (problem === undefined && isObject(body)) return body;
  throw invalid(problem ?? 'The body must be a JSON object.');
}

export function invalid(message: string): Refusal {
  return new Refusal({ status: 400, code: 'validation_error', message });
}

export function tooLarge(message: string): Refusal {
  return new Refusal({ status: 413, code: 'body_too_large', message });
}

export interface BodySchema extends JsonObject {
  type: 'object';
  required: string[];
  properties: { [name: string]: JsonObject };
}

export const anyBody: BodySchema = { type: 'object', required: [], properties: {} };

/** Describes the first error in a request body. `undefined` if the body is valid. Unknown fields are allowed. */
function findSchemaProblem(body: Json, schema: BodySchema): string | undefined {
  if (!isObject(body)) return 'The body must be a JSON object.';
  for (const name of schema.required) {
    if (!Object.hasOwn(body, name)) return `${name} is required.`;
  }
  for (const [name, rules] of Object.entries(schema.properties)) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (value === undefined) continue;
    const problem = findValueProblem(name, value, rules);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Adapts a request body to the schema of this sandbox, if it was made for another service, which a run rehearses.
 * Removes values that violate the schema, and adds required values. Returns a valid body unchanged.
 */
export function fitBody(body: JsonObject, { required, properties }: BodySchema): JsonObject {
  const texts = Object.values(body).filter((value) => typeof value === 'string' && value.trim() !== '');
  const link = texts.find((text) => URL.canParse(String(text)));
  const fits = ([name, value]: [string, Json]) =>
    !Object.hasOwn(properties, name) || findValueProblem(name, value, properties[name] ?? {}) === undefined;
  const fitting = Object.fromEntries(Object.entries(body).filter(fits));
  for (const name of required) {
    if (Object.hasOwn(fitting, name)) continue;
    const { enum: allowed } = properties[name] ?? {};
    fitting[name] = Array.isArray(allowed) ? (allowed[0] ?? '') : ((/url$/i.test(name) ? link : texts[0]) ?? name);
  }
  return fitting;
}

function findValueProblem(name: string, value: Json, rules: JsonObject): string | undefined {
  switch (rules.type) {
    case 'string':
      return findTextProblem(name, value, rules);
    case 'integer':
    case 'number':
      return findNumberProblem(name, value, rules);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${name} must be true or false.`;
    case 'array':
      return findListProblem(name, value, rules);
    default:
      throw new Error(`internal error: the body schema of ${name} has a type that is not checked`);
  }
}

function findNumberProblem(name: string, value: Json, rules: JsonObject): string | undefined {
  if (typeof value !== 'number') return `${name} must be a number.`;
  if (rules.type === 'integer' && !Number.isInteger(value)) return `${name} must be a whole number; got ${value}.`;
  const { minimum, maximum, enum: allowed } = rules;
  const tooSmall = typeof minimum === 'number' && value < minimum;
  const tooLarge = typeof maximum === 'number' && value > maximum;
  if (tooSmall || tooLarge) return `${name} must be ${describeRange(minimum, maximum)}; got ${value}.`;
  if (Array.isArray(allowed) && !allowed.includes(value)) {
    return `${name} must be one of ${allowed.join(', ')}; got ${value}.`;
  }
  return undefined;
}

function describeRange(minimum: Json | undefined, maximum: Json | undefined): string {
  if (maximum === undefined) return `at least ${minimum}`;
  return minimum === undefined ? `at most ${maximum}` : `from ${minimum} to ${maximum}`;
}

function findTextProblem(name: string, value: Json, rules: JsonObject): string | undefined {
  if (typeof value !== 'string') return `${name} must be a string.`;
  if (typeof rules.pattern === 'string' && !new RegExp(rules.pattern, 'u').test(value)) {
    return `${name} must not be blank.`;
  }
  if (typeof rules.maxLength === 'number') {
    // Counts Unicode code points instead of UTF-16 code units, as JSON Schema does.
    const length = [...value].length;
    if (length > rules.maxLength) return `${name} has ${length} characters; at most ${rules.maxLength} are allowed.`;
  }
  if (Array.isArray(rules.enum) && !rules.enum.includes(value)) {
    return `${name} must be one of ${rules.enum.join(', ')}; got ${JSON.stringify(value.slice(0, 80))}.`;
  }
  return undefined;
}

function findListProblem(name: string, value: Json, rules: JsonObject): string | undefined {
  if (!Array.isArray(value)) return `${name} must be an array.`;
  const { items, minItems, maxItems } = rules;
  if (typeof minItems === 'number' && value.length < minItems) return `${name} must have at least ${minItems} entries.`;
  if (typeof maxItems === 'number' && value.length > maxItems) {
    return `${name} has ${value.length} entries; at most ${maxItems} are allowed.`;
  }
  if (!isObject(items)) return undefined;
  for (const [index, item] of value.entries()) {
    const problem = findValueProblem(`${name}[${index}]`, item, items);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
