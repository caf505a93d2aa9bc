import { postBody } from './handle-create.ts';
import { uploadBodies } from './handle-upload.ts';
import { kinds } from './kinds/index.ts';
import { jobSchemas, link, notShown, refer, textOrNull, time } from './kinds/schemas.ts';
import type { Call, JsonObject, Reply } from './wire.ts';

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Where an operation's path begins. `api`: below `/api/v1`. `root`: at the root of the host. */
  readonly base: 'api' | 'root';
  /** Path with `{name}` segments. A segment matches any text, but only the last one matches an empty text. */
  readonly path: string;
  readonly operation: JsonObject;
  readonly run: (call: Call, parameters: Readonly<Record<string, string>>) => Reply | Promise<Reply>;
}

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
        'A local simulation of the media generation service: the same requests and answers, sandbox credits, placeholder media. Behaviour that the service does not document, so that the sandbox had to choose it, is marked x-not-shown.',
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
            'An API key of the form `<prefix>_live_<random>`, or a JWT. For a JWT with the subject `unknown-user`, every operation answers 404.',
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
  readonly path?: readonly string[];
  readonly parameters?: readonly JsonObject[];
  readonly body?: string;
  readonly answer: JsonObject;
  readonly errors: readonly number[];
  /** True for operations that need no bearer token. */
  readonly isOpen?: true;
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

/**
 * Returns the error statuses of an operation. 400: the path is not percent-encoded correctly. 404: the user does not
 * exist.
 */
function errorsOf({ path, isOpen, errors }: OperationFacts): number[] {
  const more = [...(path === undefined ? [] : [400]), ...(isOpen ? [] : [404])];
  return [...new Set([...more, ...errors])].sort((a, b) => a - b);
}

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
      206: { description: 'The part of the file that Range requests.', content: binary },
      304: { description: 'Unchanged.' },
      ...describeErrors([400, 404, 416, 500]),
    },
  };
}

const errorMeanings: Readonly<Record<number, string>> = {
  400: 'A field, a header or the body is missing or invalid.',
  401: 'The credential is missing or invalid.',
  402: 'The balance is too small.',
  403: 'The URL does not allow the request, has expired, or is not valid for this caller.',
  404: 'Nothing has this id, or the token has no user.',
  409: 'The request conflicts with an earlier request.',
  413: 'The body or the file is too large.',
  416: 'The range lies outside of the file.',
  429: 'The rate limit is exceeded; Retry-After contains the time to wait.',
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

function describeSchemas(): JsonObject {
  return {
    ...jobSchemas,
    ...librarySchemas,
    ...Object.fromEntries(kinds.map(({ create }) => [create.schemaName, create.body])),
    ...Object.fromEntries(
      kinds.map(({ create }) => [
        `${create.schemaName}d`,
        answerWith({
          ...create.answer,
          creditsDeducted: { type: 'integer', minimum: 0 },
          creditsRemaining: { type: 'integer' },
        }),
      ]),
    ),
    ...uploadBodies,
    PostCreate: postBody,
  };
}

export function answerWith(properties: JsonObject): JsonObject {
  return {
    type: 'object',
    required: ['success', ...Object.keys(properties)],
    properties: { success: { const: true }, ...properties },
  };
}

export function listOf(schema: string): JsonObject {
  return { type: 'array', items: refer(schema) };
}

const text = { type: 'string' };

function record(properties: JsonObject): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties };
}

const librarySchemas: JsonObject = {
  Error: notShown(
    record({ success: { const: false }, error: text, code: text, message: text }),
    'The values of code are not documented; the sandbox chose them.',
  ),
  Pagination: record({
    currentPage: { type: 'integer', minimum: 1 },
    totalPages: { type: 'integer', minimum: 0 },
    totalCount: { type: 'integer', minimum: 0 },
    limit: { type: 'integer', minimum: 1 },
    hasNextPage: { type: 'boolean' },
    hasPreviousPage: { type: 'boolean' },
  }),
  Voice: {
    type: 'object',
    required: ['id', 'label', 'description', 'gender', 'accent'],
    properties: {
      id: text,
      label: text,
      description: text,
      gender: { type: 'string', enum: ['male', 'female', 'neutral'] },
      accent: text,
      previewUrl: { type: ['string', 'null'], format: 'uri' },
    },
  },
  MediaAsset: record({
    id: text,
    name: text,
    url: link,
    mimeType: text,
    type: { type: 'string', enum: ['IMAGE', 'VIDEO', 'AUDIO', 'DOCUMENT'] },
    fileSize: { type: 'integer', minimum: 0, description: 'Bytes.' },
    createdAt: time,
  }),
  SignedUrl: record({ uploadUrl: link, token: text, publicUrl: link, blobName: text }),
  SocialAccount: record({
    id: text,
    provider: text,
    providerAccountId: text,
    accountName: text,
    accountUsername: text,
    profilePicture: link,
    expiresAt: time,
  }),
  CatalogModel: notShown(
    record({
      key: text,
      kind: text,
      aliasOf: { ...textOrNull, description: 'The model for which this key is another name.' },
      credits: {
        type: 'integer',
        minimum: 0,
        description: 'Credits for each started unit of `per`, for a request with default values.',
      },
      per: { type: 'string', enum: ['job', 'second', '250 characters', '500 characters'] },
      creditsBy: {
        type: 'object',
        description: 'Credits by name and value of a field, if the credits depend on the field.',
        additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
      },
      allowed: {
        type: 'object',
        description: 'Allowed values of fields with a fixed set of values.',
        additionalProperties: { type: 'array', items: { type: ['string', 'number'] } },
      },
    }),
    'The answer of the catalog is not documented.',
  ),
  Post: notShown(
    record({
      id: text,
      status: { type: 'string', enum: ['SCHEDULED', 'PUBLISHED'] },
      accountIds: { type: 'array', items: text },
      caption: textOrNull,
      media: { type: 'array', items: link },
      scheduledAt: textOrNull,
      createdAt: time,
    }),
    'The answer to a post is not documented.',
  ),
};
