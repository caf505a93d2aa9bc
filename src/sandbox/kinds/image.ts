import type { JsonObject } from '../wire.ts';
import { describeTake, entryNamed, imageStatus, readText, readTexts, type SandboxKind } from './kind.ts';
import { findUrlsProblem } from './public-url.ts';
import { generation } from './schemas.ts';

/**
 * Image model. Prices, number of references and pixel sizes are not documented by the service; the sandbox chose them.
 */
interface ImageModel {
  readonly runs: string;
  readonly ratios: readonly string[];
  readonly resolutions: Readonly<Record<string, Resolution>>;
  readonly defaultResolution: string;
  readonly references: number;
}

interface Resolution {
  readonly credits: number;
  readonly size: ImageSize;
}

/** `area`: side of a square with as many pixels as the picture has, at any aspect ratio. */
type ImageSize =
  | { readonly type: 'area'; readonly sidePixels: number }
  | { readonly type: 'exact'; readonly widthPixels: number; readonly heightPixels: number };

function area(credits: number, sidePixels: number): Resolution {
  return { credits, size: { type: 'area', sidePixels } };
}

function exact(credits: number, widthPixels: number, heightPixels: number): Resolution {
  return { credits, size: { type: 'exact', widthPixels, heightPixels } };
}

const betaRatios = ['1:1', '4:3', '3:4', '16:9', '9:16', '2:3', '3:2', '21:9'];
const betaTiers = { basic: area(3, 1024), high: area(3, 2048) };
const beta = {
  runs: 'beta-5.0-pro',
  ratios: betaRatios,
  resolutions: betaTiers,
  defaultResolution: 'basic',
  references: 10,
};

const imageModels: Readonly<Record<string, ImageModel>> = {
  'alpha-2': {
    runs: 'alpha-2',
    ratios: [
      'auto',
      '1:1',
      '16:9',
      '9:16',
      '4:3',
      '3:4',
      '3:2',
      '2:3',
      '4:5',
      '5:4',
      '21:9',
      '1:4',
      '4:1',
      '1:8',
      '8:1',
    ],
    resolutions: { '1k': area(2, 1024), '2k': area(3, 2048), '4k': area(5, 4096) },
    defaultResolution: '2k',
    references: 14,
  },
  'alpha-pro': {
    runs: 'alpha-pro',
    ratios: ['1:1', '2:3', '3:4', '4:5', '3:2', '4:3', '5:4', '16:9', '21:9'],
    resolutions: { '1k': area(4, 1024), '2k': area(6, 2048), '4k': area(9, 4096) },
    defaultResolution: '2k',
    references: 8,
  },
  'beta-5.0-pro': beta,
  'beta-v5-lite': beta,
  'gamma-image-2': {
    runs: 'gamma-image-2',
    ratios: ['auto', '1:1', '9:16', '16:9', '4:3', '3:4'],
    resolutions: { '1k': area(3, 1024), '2k': area(4, 2048), '4k': area(7, 4096) },
    defaultResolution: '2k',
    references: 16,
  },
  'gamma-image-1.5': {
    runs: 'gamma-image-2',
    ratios: [],
    resolutions: {
      '1024x1024': exact(3, 1024, 1024),
      '1024x1536': exact(3, 1024, 1536),
      '1536x1024': exact(3, 1536, 1024),
    },
    defaultResolution: '1024x1024',
    references: 16,
  },
};

/** Returns width and height of a picture, as multiples of 16. With the ratio `auto` or no ratio, both are equal. */
export function pixelSize(size: ImageSize, ratio: string): { readonly width: number; readonly height: number } {
  if (size.type === 'exact') return { width: size.widthPixels, height: size.heightPixels };
  const [across = 1, down = 1] = /^\d+:\d+$/.test(ratio) ? ratio.split(':').map(Number) : [1, 1];
  const factor = Math.sqrt(across / down);
  const side = (pixels: number) => Math.max(16, Math.round(pixels / 16) * 16);
  return { width: side(size.sidePixels * factor), height: side(size.sidePixels / factor) };
}

const defaultModel = 'alpha-2';

export const image: SandboxKind = {
  name: 'image',
  create: {
    path: '/image-generations/create',
    replays: true,
    schemaName: 'ImageCreate',
    body: {
      type: 'object',
      required: ['prompt'],
      properties: {
        prompt: { type: 'string', minLength: 1, pattern: '\\S', description: 'Text describing the image.' },
        model: { type: 'string', enum: Object.keys(imageModels), default: defaultModel },
        aspectRatio: {
          type: 'string',
          description: 'Valid values depend on the model. `auto`, where supported, means the model default.',
        },
        resolution: {
          type: 'string',
          description: 'For a value that the model does not support, the model default is used, without an error.',
        },
        quality: {
          type: 'string',
          description:
            'Quality tier (`basic`, `high`) of models with tiers, which also accept the tier in `resolution`. The name of this field is not documented.',
          'x-not-shown': true,
        },
        referenceImages: {
          type: 'array',
          items: { type: 'string' },
          description: 'Public HTTPS image URLs. The maximum count depends on the model.',
        },
      },
      allOf: Object.entries(imageModels).map(([key, model]) => ({
        // Uses `if: { not }` with `else` instead of if/then: an object with a `then` property would look like a
        // promise.
        if: {
          not: { properties: { model: { const: key } }, ...(key === defaultModel ? {} : { required: ['model'] }) },
        },
        else: describeModelRules(model),
      })),
      'x-models': Object.fromEntries(
        Object.entries(imageModels).map(([key, model]) => [
          key,
          {
            ...(model.runs === key ? {} : { aliasOf: model.runs }),
            aspectRatio: [...model.ratios],
            resolution: Object.keys(model.resolutions),
            defaultResolution: model.defaultResolution,
            maxReferenceImages: model.references,
            credits: pricesOf(model),
          },
        ]),
      ),
      'x-not-shown': true,
      description:
        'Credits per image, the maximum number of reference images and the sizes of quality tiers are not documented; the sandbox chose the values in x-models.',
    },
    answer: {
      generation: generation({ model: { type: 'string' }, mode: { type: 'string' }, modelId: { type: 'string' } }),
      model: { type: 'string', description: 'The model that is used, after aliases are resolved.' },
    },
    describe({ id, body, model }) {
      const mode = readTexts(body, 'referenceImages').length > 0 ? 'image-to-image' : 'text-to-image';
      return { generation: { id, status: 'QUEUED', model, mode, modelId: `sandbox/${model}` }, model };
    },
  },
  status: imageStatus('BASIC'),
  durationMs: { least: 2_000, most: 5_000 },
  models: Object.entries(imageModels).map(([key, model]) => ({
    key,
    aliasOf: model.runs === key ? null : model.runs,
    credits: defaultResolution(model).credits,
    per: 'job',
    creditsBy: { resolution: pricesOf(model) },
    allowed: { aspectRatio: model.ratios, resolution: Object.keys(model.resolutions) },
  })),

  findProblem(body, world) {
    const { key, model } = chooseModel(body);
    const ratio = readText(body, 'aspectRatio', '');
    if (Object.hasOwn(body, 'aspectRatio') && !model.ratios.includes(ratio)) {
      if (model.ratios.length === 0) return `aspectRatio is not supported by ${key}; resolution sets the shape.`;
      return `aspectRatio of ${key} must be one of ${model.ratios.join(', ')}; got ${JSON.stringify(ratio.slice(0, 80))}.`;
    }
    const references = readTexts(body, 'referenceImages');
    if (references.length > model.references) {
      return `referenceImages has ${references.length} entries; ${key} allows at most ${model.references}.`;
    }
    return findUrlsProblem('referenceImages', references, world);
  },

  settle(body) {
    const { model } = chooseModel(body);
    return { model: model.runs, credits: chooseResolution(body, model).credits };
  },

  listFiles: () => [{ name: 'image.png', mediaType: 'image/png' }],

  async render(order) {
    const { model } = chooseModel(order.body);
    const { width, height } = pixelSize(
      chooseResolution(order.body, model).size,
      readText(order.body, 'aspectRatio', 'auto'),
    );
    const { drawPicture } = await import('../render/picture.ts');
    return drawPicture({
      seed: order.seed,
      prompt: readText(order.body, 'prompt', ''),
      footer: `sandbox · ${model.runs} · ${width}×${height}${describeTake(order.take)}`,
      width,
      height,
    });
  },
};

function chooseModel(body: JsonObject): { readonly key: string; readonly model: ImageModel } {
  const key = readText(body, 'model', defaultModel);
  return { key, model: entryNamed(imageModels, key) };
}

function chooseResolution(body: JsonObject, model: ImageModel): Resolution {
  for (const name of [readText(body, 'resolution', ''), readText(body, 'quality', '')]) {
    const resolution = Object.hasOwn(model.resolutions, name) ? model.resolutions[name] : undefined;
    if (resolution !== undefined) return resolution;
  }
  return defaultResolution(model);
}

function defaultResolution(model: ImageModel): Resolution {
  return entryNamed(model.resolutions, model.defaultResolution);
}

function pricesOf(model: ImageModel): { [resolution: string]: number } {
  return Object.fromEntries(Object.entries(model.resolutions).map(([name, { credits }]) => [name, credits]));
}

function describeModelRules(model: ImageModel): JsonObject {
  const referenceImages = { maxItems: model.references };
  if (model.ratios.length === 0) return { properties: { aspectRatio: false, referenceImages } };
  return { properties: { aspectRatio: { enum: [...model.ratios] }, referenceImages } };
}
