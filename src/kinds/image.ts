import type { Kind } from './kind.ts';

/** One model, under two keys. */
const beta = {
  tiers: ['basic', 'high'],
  allows: {
    resolution: [],
    aspectRatio: ['1:1', '4:3', '3:4', '16:9', '9:16', '2:3', '3:2', '21:9'],
  },
} as const;

/** The image generator, with the models, values and defaults of the service's documentation. */
export const image: Kind = {
  name: 'image',
  description: 'One image, made from a text and, where the model takes them, reference images.',
  act: 'job',
  media: 'image',
  create: { paths: ['/image-generations/create'], documented: true },
  status: { path: '/image/status/{id}' },
  recovery: 'replay',
  fields: {
    prompt: { description: 'What the image shows.', type: 'string', required: true, free: true },
    model: { description: 'The model that makes the image.', type: 'string', default: 'alpha-2' },
    aspectRatio: {
      description: 'Width to height. Which ratios there are depends on the model; `auto` is the default of the model.',
      type: 'string',
      default: 'auto',
    },
    resolution: {
      description: 'Size of the image. Which sizes there are depends on the model; the price depends on it.',
      type: 'string',
      default: '2k',
    },
    referenceImages: {
      description: 'Images to go by: public https URLs, or outputs of other tasks. How many depends on the model.',
      type: 'strings',
      url: true,
    },
  },
  model: {
    field: 'model',
    default: 'alpha-2',
    tierField: 'quality',
    models: {
      'alpha-2': {
        description: 'The default model; the most aspect ratios.',
        allows: {
          resolution: ['1k', '2k', '4k'],
          aspectRatio: [
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
        },
      },
      'alpha-pro': {
        description: 'No `auto` and no 9:16 among its aspect ratios.',
        allows: {
          resolution: ['1k', '2k', '4k'],
          aspectRatio: ['1:1', '2:3', '3:4', '4:5', '3:2', '4:3', '5:4', '16:9', '21:9'],
        },
      },
      'beta-5.0-pro': {
        description: 'Has quality tiers instead of a resolution; its values are documented under beta-v5-lite.',
        ...beta,
      },
      'beta-v5-lite': {
        description: 'An alias of beta-5.0-pro. Has quality tiers instead of a resolution.',
        aliasOf: 'beta-5.0-pro',
        ...beta,
      },
      'gamma-image-1.5': {
        description: 'An alias of gamma-image-2. Takes its size in pixels, and no aspect ratio.',
        aliasOf: 'gamma-image-2',
        allows: {
          resolution: ['1024x1024', '1024x1536', '1536x1024'],
          aspectRatio: [],
        },
      },
      'gamma-image-2': {
        description: 'Six aspect ratios, `auto` among them.',
        allows: {
          resolution: ['1k', '2k', '4k'],
          aspectRatio: ['auto', '1:1', '9:16', '16:9', '4:3', '3:4'],
        },
      },
    },
  },
  pricedBy: ['resolution', 'quality'],
  outputs: ['url'],
  typicalMs: 15_000,
};
