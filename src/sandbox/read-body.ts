import { type BodySchema, findSchemaProblem } from './schema.ts';
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
