import type { Endpoint } from './endpoint.ts';
import { refer } from './kinds/schemas.ts';
import { describeSchemas } from './openapi-schemas.ts';
import type { JsonObject } from './wire.ts';

/** The machine-readable description of what is served, made from the same endpoints and body schemas that serve it. */
export function describeService(endpoints: readonly Endpoint[]): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const { base, path, method, operation } of endpoints) {
    const item: JsonObject = paths[path] ?? {};
    paths[path] = item;
    if (base === 'root') item.servers = [{ url: '/' }];
    item[method.toLowerCase()] = operation;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Media Generation API (sandbox)',
      version: '1.2.0',
      description:
        'A local stand-in for the media generation service: the same calls and answers, play credits, placeholder media. What the service does not document and the sandbox had to choose is marked x-not-shown.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ bearerAuth: [] }],
    paths,
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key of the form `<prefix>_live_<random>`, or a JWT. One with the subject `unknown-user` is of nobody: every operation answers 404.',
        },
      },
      schemas: describeSchemas(),
    },
  };
}

export interface OperationFacts {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** Names in braces of the path. */
  readonly path?: readonly string[];
  readonly parameters?: readonly JsonObject[];
  /** Name of the schema of the JSON body. */
  readonly body?: string;
  /** Schema of the JSON answer. */
  readonly answer: JsonObject;
  readonly errors: readonly number[];
  /** No bearer token is asked for. */
  readonly isOpen?: true;
  /** Parts of it that the documentation does not show. */
  readonly notShown?: string;
}

export function describeOperation(facts: OperationFacts): JsonObject {
  const parameters = [...(facts.path ?? []).map(pathParameter), ...(facts.parameters ?? [])];
  return {
    operationId: facts.id,
    tags: [facts.tag],
    summary: facts.summary,
    ...(facts.notShown !== undefined && { 'x-not-shown': true, description: facts.notShown }),
    security: facts.isOpen ? [] : [{ bearerAuth: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(facts.body !== undefined && { requestBody: { required: true, content: jsonOf(refer(facts.body)) } }),
    responses: {
      200: { description: 'Done.', content: jsonOf(facts.answer) },
      ...describeErrors(errorsOf(facts)),
    },
  };
}

/** 400: the path is not percent-encoded correctly. 404: the user is not there. */
function errorsOf({ path, isOpen, errors }: OperationFacts): number[] {
  const more = [...(path === undefined ? [] : [400]), ...(isOpen ? [] : [404])];
  return [...new Set([...more, ...errors])].sort((a, b) => a - b);
}

/** A file, as outputs and uploads are served. */
export function describeFile(facts: { id: string; summary: string; path: readonly string[] }): JsonObject {
  const binary = { '*/*': {} };
  return {
    operationId: facts.id,
    tags: ['files'],
    summary: facts.summary,
    security: [],
    parameters: facts.path.map(pathParameter),
    responses: {
      200: { description: 'The file.', content: binary },
      206: { description: 'The part of it that Range asks for.', content: binary },
      304: { description: 'Unchanged.' },
      ...describeErrors([400, 404, 416, 500]),
    },
  };
}

const errorMeanings: Readonly<Record<number, string>> = {
  400: 'A field, a header or the body is missing or invalid.',
  401: 'The credential is missing or invalid.',
  402: 'The balance is too small.',
  403: 'The URL does not allow it, not any more, or not from where the caller is.',
  404: 'There is nothing under this id, or no user of this token.',
  409: 'The request is at odds with an earlier one.',
  413: 'The body or the file is too large.',
  416: 'The range lies outside of the file.',
  429: 'The rate limit is exceeded; Retry-After says for how long.',
  500: 'Server error.',
};

export function describeErrors(statuses: readonly number[]): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: errorMeanings[status] ?? 'Error.', content: jsonOf(refer('Error')) },
    ]),
  );
}

export function jsonOf(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

export function pathParameter(name: string): JsonObject {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}
