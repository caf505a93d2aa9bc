import { type BodySchema, findSchemaProblem } from './schema.ts';
import { type Answer, answerProblem, type Call, isObject, type Json, type JsonObject } from './wire.ts';

type Read<Value> = ({ readonly type: 'body' } & Value) | { readonly type: 'refused'; readonly answer: Answer };

export function readJson(call: Call): Read<{ readonly body: Json; readonly text: string }> {
  if (call.body.type !== 'whole') {
    return { type: 'refused', answer: answerTooLarge('The body is larger than 10 MB.') };
  }
  if (!/^application\/json\s*(;|$)/i.test(call.header('content-type') ?? '')) {
    return refuse('invalid_content_type', 'The header Content-Type must be application/json.');
  }
  const text = call.body.bytes.toString('utf8');
  try {
    const body: Json = JSON.parse(text);
    return { type: 'body', body, text };
  } catch {
    return refuse('invalid_json', 'The body is not valid JSON.');
  }
}

export function checkBody(body: Json, schema: BodySchema): Read<{ readonly body: JsonObject }> {
  const problem = findSchemaProblem(body, schema);
  if (problem === undefined && isObject(body)) return { type: 'body', body };
  return { type: 'refused', answer: answerInvalid(problem ?? 'The body must be a JSON object.') };
}

export function answerInvalid(message: string): Answer {
  return answerProblem({ status: 400, code: 'validation_error', message });
}

export function answerTooLarge(message: string): Answer {
  return answerProblem({ status: 413, code: 'body_too_large', message });
}

function refuse(code: string, message: string): { readonly type: 'refused'; readonly answer: Answer } {
  return { type: 'refused', answer: answerProblem({ status: 400, code, message }) };
}
