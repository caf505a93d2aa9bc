import { lot } from '../digest.ts';
import type { JsonObject } from '../wire.ts';
import { describeAsset, describeProgress, type JobView } from './job-view.ts';
import { type FileFacts, readNumber, readText, type SandboxKind } from './kind.ts';
import { findUrlProblem } from './public-url.ts';
import { bodyNotShown, refer } from './schemas.ts';

const model = 'clipper-1';
const credits = 10;
const clips = { most: 10, default: 3 };
const shortestClipMs = 1_000;
const sizes: Readonly<Record<string, { readonly width: number; readonly height: number }>> = {
  '9:16': { width: 360, height: 640 },
  '1:1': { width: 480, height: 480 },
  '16:9': { width: 640, height: 360 },
};

export const clipping: SandboxKind = {
  name: 'clipping',
  create: {
    path: '/clippings/create',
    replays: false,
    schemaName: 'ClippingCreate',
    body: {
      type: 'object',
      required: ['videoUrl'],
      properties: {
        videoUrl: { type: 'string', description: 'Public https URL of the long video.' },
        maxClips: {
          type: 'integer',
          minimum: 1,
          maximum: clips.most,
          default: clips.default,
          description: 'Maximum number of clips. At least one clip is made.',
        },
        ratio: { type: 'string', enum: Object.keys(sizes), default: '9:16', description: 'Width to height.' },
      },
      'x-models': { [model]: { credits, per: 'job' } },
      ...bodyNotShown,
    },
    answer: { data: refer('ClippingJob') },
    describe: (job) => ({ data: describeRecord(job) }),
  },
  status: {
    paths: ['/clippings/status/{clippingId}', '/clippings/refresh/{clippingId}'],
    schemaName: 'ClippingJob',
    progress: 'when asked',
    describe: describeRecord,
  },
  record: { path: '/clippings/{clippingId}' },
  list: {
    path: '/clippings/all',
    items: 'data',
    paging: 'none',
    byModel: false,
    schemaName: 'ClippingJob',
    describe: describeRecord,
  },
  remove: { path: '/clippings/{clippingId}', by: 'job' },
  durationMs: { least: 45_000, most: 90_000 },
  models: [{ key: model, aliasOf: null, credits, per: 'job', creditsBy: {}, allowed: { ratio: Object.keys(sizes) } }],

  findProblem: (body, world) => findUrlProblem('videoUrl', readText(body, 'videoUrl', ''), world),
  settle: () => ({ model, credits }),
  sourceField: 'videoUrl',

  listFiles(job) {
    return Array.from({ length: countClips(job) }, (_, index) => ({
      name: `clip-${index + 1}.webm`,
      mediaType: 'video/webm',
    }));
  },

  async render(order) {
    const { renderClip } = await import('../render/clip.ts');
    const { width, height } = sizes[readText(order.body, 'ratio', '9:16')] ?? { width: 360, height: 640 };
    return renderClip({
      source: order.source,
      sourceName: nameSource(readText(order.body, 'videoUrl', '')),
      seed: order.seed,
      index: Number(/\d+/.exec(order.fileName)?.[0] ?? 1) - 1,
      count: countClips(order),
      width,
      height,
    });
  },
};

function describeRecord(job: JobView): JsonObject {
  return {
    ...describeProgress(job),
    videoUrl: readText(job.body, 'videoUrl', ''),
    clips: job.life.status === 'COMPLETED' ? job.files.map((_file, order) => describeClip(job, order)) : [],
  };
}

function describeClip(job: JobView, order: number): JsonObject {
  return { id: `${job.id}-${order + 1}`, order, ...describeAsset('outputAsset', job, order) };
}

/** Returns a number of clips: at most the requested number and one per second of the video; at least half of that. */
function countClips({ body, seed, sourceMs }: FileFacts): number {
  const asked = readNumber(body, 'maxClips', clips.default);
  const most = Math.max(1, sourceMs === null ? asked : Math.min(asked, Math.floor(sourceMs / shortestClipMs)));
  const least = Math.ceil(most / 2);
  return least + Math.floor(lot(seed, 3) * (most - least + 1));
}

function nameSource(url: string): string {
  const last = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined;
  return last === undefined || last === '' ? 'video' : last;
}
