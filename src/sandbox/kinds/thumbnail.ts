import type { JsonObject } from '../wire.ts';
import { describeEnd, describeLink, describeProgress, type JobView } from './job-view.ts';
import { describeTake, imageStatus, readText, type SandboxKind } from './kind.ts';
import { findUrlProblem } from './public-url.ts';
import { bodyNotShown, refer } from './schemas.ts';

const model = 'thumbnail-1';
const credits = 3;
const sizes: Readonly<Record<string, { readonly width: number; readonly height: number }>> = {
  '16:9': { width: 1280, height: 720 },
  '9:16': { width: 720, height: 1280 },
  '1:1': { width: 1080, height: 1080 },
};

export const thumbnail: SandboxKind = {
  name: 'thumbnail',
  create: {
    path: '/thumbnails/create',
    replays: false,
    schemaName: 'ThumbnailCreate',
    body: {
      type: 'object',
      required: ['title'],
      properties: {
        title: {
          type: 'string',
          minLength: 1,
          pattern: '\\S',
          maxLength: 200,
          description: 'Title of the video or page of the thumbnail.',
        },
        description: { type: 'string', description: 'What it shows.' },
        image: { type: 'string', description: 'Public https URL of a reference image.' },
        link: { type: 'string', description: 'Link to the video of the thumbnail.' },
        ratio: { type: 'string', enum: Object.keys(sizes), default: '16:9', description: 'Width to height.' },
      },
      'x-models': { [model]: { credits, per: 'job' } },
      ...bodyNotShown,
    },
    answer: { data: refer('ThumbnailRecord') },
    describe: (job) => ({ data: describeRecord(job) }),
  },
  status: imageStatus('THUMBNAIL'),
  list: {
    path: '/thumbnails',
    items: 'data',
    paging: 'none',
    byModel: false,
    schemaName: 'ThumbnailRecord',
    describe: describeRecord,
  },
  remove: { path: '/thumbnails/{generationId}', by: 'record' },
  durationMs: { least: 4_000, most: 8_000 },
  models: [{ key: model, aliasOf: null, credits, per: 'job', creditsBy: {}, allowed: { ratio: Object.keys(sizes) } }],

  findProblem(body, world) {
    return Object.hasOwn(body, 'image') ? findUrlProblem('image', readText(body, 'image', ''), world) : undefined;
  },

  settle: () => ({ model, credits }),
  listFiles: () => [{ name: 'thumbnail.jpg', mediaType: 'image/jpeg' }],

  async render({ seed, body, take }) {
    const { width, height } = sizes[readText(body, 'ratio', '16:9')] ?? { width: 1280, height: 720 };
    const { drawPicture } = await import('../render/picture.ts');
    return drawPicture({
      seed,
      prompt: readText(body, 'title', ''),
      footer: `sandbox · ${model} · ${width}×${height}${describeTake(take)}`,
      width,
      height,
      format: 'jpeg',
    });
  },
};

function describeRecord(job: JobView): JsonObject {
  const given = readText(job.body, 'image', '');
  return {
    ...describeProgress(job),
    id: job.recordId,
    userId: job.user,
    title: readText(job.body, 'title', ''),
    description: readText(job.body, 'description', '') || null,
    ...(given === '' ? describeLink('image', job) : { image: given }),
    link: readText(job.body, 'link', '') || null,
    jobId: job.id,
    ...describeEnd(job),
  };
}
