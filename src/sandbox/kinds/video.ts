import type { JsonObject } from '../wire.ts';
import { describeAsset, describeEnd, describeLink, describeProgress } from './job-view.ts';
import {
  type CatalogModel,
  describeTake,
  entryNamed,
  type RenderOrder,
  readNumber,
  readText,
  type SandboxKind,
} from './kind.ts';
import { findUrlProblem } from './public-url.ts';
import { bodyNotShown, describeModels, generation } from './schemas.ts';

const creditsPerSecond: Readonly<Record<string, number>> = { 'motion-2': 4, 'motion-2-fast': 2 };
const defaultModel = 'motion-2';
const seconds = { least: 1, most: 12, default: 5 };
const sizes: Readonly<Record<string, { readonly width: number; readonly height: number }>> = {
  '16:9': { width: 640, height: 360 },
  '9:16': { width: 360, height: 640 },
  '1:1': { width: 480, height: 480 },
  '4:5': { width: 432, height: 540 },
};

const models: readonly CatalogModel[] = Object.entries(creditsPerSecond).map(([key, credits]) => ({
  key,
  aliasOf: null,
  credits,
  per: 'second',
  creditsBy: {},
  allowed: { ratio: Object.keys(sizes), duration: durations() },
}));

export const video: SandboxKind = {
  name: 'video',
  create: {
    path: '/videos/create',
    replays: false,
    schemaName: 'VideoCreate',
    body: {
      type: 'object',
      required: ['prompt'],
      properties: {
        prompt: { type: 'string', minLength: 1, pattern: '\\S', description: 'What happens in the video.' },
        model: { type: 'string', enum: Object.keys(creditsPerSecond), default: defaultModel },
        ratio: { type: 'string', enum: Object.keys(sizes), default: '16:9', description: 'Width to height.' },
        duration: {
          type: 'integer',
          minimum: seconds.least,
          maximum: seconds.most,
          default: seconds.default,
          description: 'Seconds.',
        },
        image: { type: 'string', description: 'Public https URL of the first frame.' },
      },
      'x-models': describeModels(models),
      ...bodyNotShown,
    },
    answer: { generation: generation({ model: { type: 'string' } }) },
    describe: ({ id, model }) => ({ generation: { id, status: 'QUEUED', model } }),
  },
  status: {
    paths: ['/video/status/{id}'],
    schemaName: 'VideoJob',
    progress: 'by the clock',
    blankId: 'refused',
    describe: (job) => ({
      ...describeProgress(job),
      model: job.model,
      ...describeLink('outputUrl', job),
      ...describeLink('thumbnailUrl', job, 1),
      ...describeEnd(job),
    }),
  },
  list: {
    path: '/videos/all',
    items: 'generations',
    paging: 'pages',
    byModel: true,
    schemaName: 'VideoItem',
    describe: (job) => ({
      ...describeProgress(job),
      model: job.model,
      prompt: readText(job.body, 'prompt', ''),
      ratio: readRatio(job.body),
      duration: readSeconds(job.body),
      creditsUsed: job.credits,
      ...describeAsset('outputAsset', job),
      ...describeAsset('thumbnailAsset', job, 1),
    }),
  },
  durationMs: { least: 30_000, most: 60_000 },
  models,

  findProblem(body, world) {
    return Object.hasOwn(body, 'image') ? findUrlProblem('image', readText(body, 'image', ''), world) : undefined;
  },

  settle(body) {
    const model = readText(body, 'model', defaultModel);
    return { model, credits: entryNamed(creditsPerSecond, model) * readSeconds(body) };
  },

  listFiles: () => [
    { name: 'video.webm', mediaType: 'video/webm' },
    { name: 'poster.webp', mediaType: 'image/webp' },
  ],
  lengthMs: (body) => readSeconds(body) * 1000,

  async render(order) {
    const { renderVideo, renderVideoStill } = await import('../render/clip.ts');
    return order.fileName === 'poster.webp'
      ? renderVideoStill(describeScene(order))
      : renderVideo(describeScene(order));
  },
};

function describeScene({ seed, body, take }: RenderOrder) {
  const { width, height } = sizes[readRatio(body)] ?? { width: 640, height: 360 };
  const model = readText(body, 'model', defaultModel);
  return {
    seed,
    prompt: readText(body, 'prompt', ''),
    footer: `sandbox · ${model} · ${width}×${height}${describeTake(take)}`,
    width,
    height,
    durationMs: readSeconds(body) * 1000,
  };
}

function readRatio(body: JsonObject): string {
  return readText(body, 'ratio', '16:9');
}

function readSeconds(body: JsonObject): number {
  return readNumber(body, 'duration', seconds.default);
}

function durations(): number[] {
  return Array.from({ length: seconds.most - seconds.least + 1 }, (_, index) => seconds.least + index);
}
