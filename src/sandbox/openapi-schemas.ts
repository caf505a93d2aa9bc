import { postBody } from './handle-post.ts';
import { completeBody, signedUrlBody } from './handle-signed-upload.ts';
import { uploadBody } from './handle-upload.ts';
import { kinds } from './kinds/index.ts';
import { jobSchemas, link, notShown, refer, textOrNull, time } from './kinds/schemas.ts';
import type { JsonObject } from './wire.ts';

/** Everything that answers and requests are made of, by name. */
export function describeSchemas(): JsonObject {
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
    UploadCreate: uploadBody,
    SignedUrlCreate: signedUrlBody,
    UploadComplete: completeBody,
    PostCreate: postBody,
  };
}

/** The body of an answer: `success`, and all of these. */
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
    'The values of code are not documented; those here are the choice of the sandbox.',
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
      aliasOf: { ...textOrNull, description: 'The model that does the work when this key is another name for it.' },
      credits: {
        type: 'integer',
        minimum: 0,
        description: 'For each started unit of per, in a request with nothing but defaults.',
      },
      per: { type: 'string', enum: ['job', 'second', '250 characters', '500 characters'] },
      creditsBy: {
        type: 'object',
        description: 'Where the credits depend on a field: by its name and value.',
        additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
      },
      allowed: {
        type: 'object',
        description: 'Values of fields that are not free.',
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
