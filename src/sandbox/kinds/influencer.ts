import { pixelSize } from './image.ts';
import { describeTake, imageStatus, readText, readTexts, type SandboxKind } from './kind.ts';
import { findUrlsProblem } from './public-url.ts';
import { bodyNotShown, generation } from './schemas.ts';

const model = 'persona-1';
const credits = 8;
const ratios = ['1:1', '4:5', '9:16', '16:9'];
const mostReferences = 8;

export const influencer: SandboxKind = {
  name: 'influencer',
  create: {
    path: '/influencer-studio/create',
    replays: false,
    schemaName: 'InfluencerCreate',
    body: {
      type: 'object',
      required: ['prompt'],
      properties: {
        prompt: { type: 'string', minLength: 1, pattern: '\\S', description: 'What the image shows.' },
        model: { type: 'string', enum: [model], default: model },
        aspectRatio: { type: 'string', enum: ratios, default: '1:1', description: 'Width to height.' },
        referenceImages: {
          type: 'array',
          items: { type: 'string' },
          maxItems: mostReferences,
          description: 'Public https URLs of reference images.',
        },
      },
      'x-models': { [model]: { credits, per: 'job' } },
      ...bodyNotShown,
    },
    answer: {
      generation: generation({ model: { type: 'string' } }),
      model: { type: 'string' },
    },
    describe: ({ id }) => ({ generation: { id, status: 'QUEUED', model }, model }),
  },
  status: imageStatus('INFLUENCER'),
  durationMs: { least: 5_000, most: 10_000 },
  models: [{ key: model, aliasOf: null, credits, per: 'job', creditsBy: {}, allowed: { aspectRatio: ratios } }],

  findProblem: (body, world) => findUrlsProblem('referenceImages', readTexts(body, 'referenceImages'), world),
  settle: () => ({ model, credits }),
  listFiles: () => [{ name: 'influencer.webp', mediaType: 'image/webp' }],

  async render({ seed, body, take }) {
    const { width, height } = pixelSize({ type: 'area', sidePixels: 1024 }, readText(body, 'aspectRatio', '1:1'));
    const { drawPicture } = await import('../render/picture.ts');
    return drawPicture({
      seed,
      prompt: readText(body, 'prompt', ''),
      footer: `sandbox · ${model} · ${width}×${height}${describeTake(take)}`,
      width,
      height,
      format: 'webp',
    });
  },
};
