import type { Kind } from './kind.ts';

/** The AI influencer studio. Its create request and a list of its jobs are undocumented. */
export const influencer: Kind = {
  name: 'influencer',
  description: 'One image of an AI influencer.',
  act: 'job',
  media: 'image',
  create: { paths: ['/influencer-studio/create', '/influencer-studio'], documented: false },
  status: { path: '/image/status/{id}' },
  recovery: 'ask',
  fields: {
    prompt: { description: 'What the image shows.', type: 'string', free: true },
    model: { description: 'The model that makes the image.', type: 'string' },
    aspectRatio: { description: 'Width to height.', type: 'string' },
    referenceImages: {
      description: 'Images to go by: public https URLs, or outputs of other tasks.',
      type: 'strings',
      url: true,
    },
  },
  pricedBy: 'all',
  outputs: ['url'],
  typicalMs: 20_000,
};
