import type { Endpoint } from './endpoint.ts';
import type { SandboxKind } from './kinds/kind.ts';
import type { JsonObject } from './wire.ts';

/** The machine-readable description of what is served, made from the same endpoints and body schemas that serve it. */
export function describeService(endpoints: readonly Endpoint[], kinds: readonly SandboxKind[]): JsonObject {
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
        'A local stand-in for the media generation service: the same calls and answers, play credits, placeholder media.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ bearerAuth: [] }],
    paths,
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the form `<prefix>_live_<random>`, or a JWT.',
        },
      },
      schemas: {
        ...sharedSchemas,
        ...Object.fromEntries(kinds.map((kind) => [kind.schemaName, kind.body])),
        ...Object.fromEntries(kinds.map((kind) => [`${kind.schemaName}d`, describeCreated(kind)])),
      },
    },
  };
}

const time = { type: 'string', format: 'date-time' };

const sharedSchemas = {
  JobStatus: { type: 'string', enum: ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED'] },
  Job: {
    type: 'object',
    required: ['id', 'status', 'createdAt', 'updatedAt'],
    properties: {
      id: { type: 'string' },
      status: { $ref: '#/components/schemas/JobStatus' },
      outputUrl: { type: 'string', format: 'uri', description: 'Set when COMPLETED.' },
      error: { type: ['string', 'null'], description: 'Set when FAILED.' },
      createdAt: time,
      updatedAt: time,
      completedAt: { ...time, description: 'Set when COMPLETED or FAILED.' },
    },
  },
  JobAnswer: {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { const: true }, data: { $ref: '#/components/schemas/Job' } },
  },
  DeleteAnswer: {
    type: 'object',
    required: ['success', 'message'],
    properties: { success: { const: true }, message: { type: 'string' } },
  },
  Error: {
    type: 'object',
    required: ['success', 'error', 'code', 'message'],
    properties: {
      success: { const: false },
      error: { type: 'string' },
      code: { type: 'string' },
      message: { type: 'string' },
    },
    'x-not-shown': 'The values of code are not documented; those here are the choice of the sandbox.',
  },
};

function describeCreated(kind: SandboxKind): JsonObject {
  return {
    type: 'object',
    required: ['success', ...Object.keys(kind.created), 'creditsDeducted', 'creditsRemaining'],
    properties: {
      success: { const: true },
      ...kind.created,
      creditsDeducted: { type: 'integer', minimum: 0 },
      creditsRemaining: { type: 'integer' },
    },
  };
}

export function describeCreate(kind: SandboxKind): JsonObject {
  return {
    operationId: `create_${kind.name}`,
    tags: [kind.name],
    summary: `Create a job of the kind ${kind.name}; credits are deducted at once`,
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        schema: { type: 'string', maxLength: 128 },
        description: 'API keys only. Within 24 hours the same key gives the same answer and no second job.',
      },
    ],
    requestBody: { required: true, content: jsonOf(kind.schemaName) },
    responses: {
      200: { description: 'The job is queued.', content: jsonOf(`${kind.schemaName}d`) },
      ...describeErrors([400, 401, 402, 409, 413, 429, 500]),
    },
  };
}

export function describeStatus(kind: SandboxKind): JsonObject {
  return {
    operationId: `status_${kind.name}`,
    tags: [kind.name],
    summary: 'Where the job stands',
    parameters: [pathParameter('id')],
    responses: {
      200: { description: 'The job.', content: jsonOf('JobAnswer') },
      ...describeErrors([401, 404, 500]),
    },
  };
}

export function describeDelete(kind: SandboxKind): JsonObject {
  return {
    operationId: `delete_${kind.name}`,
    tags: [kind.name],
    summary: 'Delete the generation and its record; credits are not returned',
    parameters: [pathParameter('id')],
    responses: {
      200: { description: 'It is deleted.', content: jsonOf('DeleteAnswer') },
      ...describeErrors([401, 404, 500]),
    },
  };
}

export function describeFile(): JsonObject {
  const binary = { 'image/*': {}, 'audio/*': {} };
  return {
    operationId: 'output_file',
    tags: ['files'],
    summary: 'An output file; its URL is a job’s outputUrl',
    security: [],
    parameters: [pathParameter('token'), pathParameter('name')],
    responses: {
      200: { description: 'The file.', content: binary },
      206: { description: 'The part of it that Range asks for.', content: binary },
      304: { description: 'Unchanged.' },
      ...describeErrors([404, 416]),
    },
  };
}

export function describeDocument(operationId: string): JsonObject {
  return {
    operationId,
    tags: ['meta'],
    summary: 'This document',
    security: [],
    responses: { 200: { description: 'OpenAPI 3.1', content: { 'application/json': {} } } },
  };
}

const errorMeanings: Readonly<Record<number, string>> = {
  400: 'A field, a header or the body is missing or invalid.',
  401: 'The credential is missing or invalid.',
  402: 'The balance is too small.',
  404: 'There is nothing under this id.',
  409: 'The Idempotency-Key was used with another request, or its first request is still being handled.',
  413: 'The body is larger than 10 MB.',
  416: 'The range lies outside of the file.',
  429: 'The rate limit is exceeded; Retry-After says for how long.',
  500: 'Server error.',
};

function describeErrors(statuses: readonly number[]): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: errorMeanings[status] ?? 'Error.', content: jsonOf('Error') },
    ]),
  );
}

function jsonOf(schema: string): JsonObject {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

function pathParameter(name: string): JsonObject {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}
