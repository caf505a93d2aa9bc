import type { JsonObject } from '../wire.ts';
import type { CatalogModel } from './kind.ts';

export const time = { type: 'string', format: 'date-time' };
export const link = { type: 'string', format: 'uri' };
export const textOrNull = { type: ['string', 'null'] };

export function refer(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

export function notShown(schema: JsonObject, description: string): JsonObject {
  return { ...schema, 'x-not-shown': true, description };
}

export const bodyNotShown = {
  'x-not-shown': true,
  description: 'The request body is not documented; the sandbox chose its fields, models and prices.',
};

const progress = {
  id: { type: 'string' },
  status: refer('JobStatus'),
  error: { ...textOrNull, description: 'Set when FAILED.' },
  createdAt: time,
  updatedAt: time,
};
const progressRequired = ['id', 'status', 'error', 'createdAt', 'updatedAt'];
const completedAt = { ...time, description: 'Set when COMPLETED or FAILED.' };
const outputUrl = { ...link, description: 'Set when COMPLETED.' };

function job(fields: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', required: [...progressRequired, ...required], properties: { ...progress, ...fields } };
}

export function generation(fields: JsonObject, required: readonly string[] = []): JsonObject {
  const properties = { id: { type: 'string' }, status: refer('JobStatus'), ...fields };
  return { type: 'object', required: ['id', 'status', ...required], properties };
}

const asset = refer('Asset');

export const jobSchemas: { readonly [name: string]: JsonObject } = {
  JobStatus: { type: 'string', enum: ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED'] },
  Asset: {
    type: 'object',
    required: ['id', 'url'],
    properties: {
      id: { type: 'string' },
      url: link,
      mimeType: notShown({ type: 'string' }, 'Only the fields id and url are documented.'),
    },
  },
  ImageJob: job({
    kind: notShown(
      { type: 'string', enum: ['BASIC', 'INFLUENCER', 'THUMBNAIL'] },
      'The name of the field with the kind is not documented.',
    ),
    outputUrl,
    completedAt,
  }),
  MusicJob: job({ outputUrl, completedAt }),
  VideoJob: job({ model: { type: 'string' }, outputUrl, thumbnailUrl: outputUrl, completedAt }, ['model']),
  VideoItem: job(
    {
      model: { type: 'string' },
      prompt: { type: 'string' },
      ratio: { type: 'string' },
      duration: { type: 'number', description: 'Seconds.' },
      creditsUsed: { type: 'number' },
      outputAsset: asset,
      thumbnailAsset: asset,
    },
    ['model', 'prompt', 'ratio', 'duration', 'creditsUsed'],
  ),
  VoiceoverJob: job({ voiceId: { type: 'string' }, outputUrl, completedAt }, ['voiceId']),
  VoiceoverItem: job(
    {
      text: { type: 'string' },
      voiceId: { type: 'string' },
      model: { type: 'string' },
      outputFormat: { type: 'string' },
      outputAsset: asset,
    },
    ['text', 'voiceId', 'model', 'outputFormat'],
  ),
  ThumbnailRecord: job(
    {
      id: { type: 'string', description: 'ID of the record. The ID of the job is in jobId.' },
      userId: { type: 'string' },
      title: { type: 'string' },
      description: textOrNull,
      image: notShown(
        link,
        'The image of the request. If the request has no image: the thumbnail, omitted until the job is COMPLETED.',
      ),
      link: textOrNull,
      jobId: { type: 'string' },
      completedAt,
    },
    ['userId', 'title', 'description', 'link', 'jobId'],
  ),
  ClippingJob: job({ videoUrl: link, clips: { type: 'array', items: refer('Clip') } }, ['videoUrl', 'clips']),
  Clip: {
    type: 'object',
    required: ['id', 'order', 'outputAsset'],
    properties: {
      id: { type: 'string' },
      order: { type: 'integer', minimum: 0, description: 'Counted from 0.' },
      outputAsset: asset,
    },
  },
};

export function describeModels(models: readonly CatalogModel[]): JsonObject {
  return Object.fromEntries(models.map(({ key, credits, per }) => [key, { credits, per }]));
}
