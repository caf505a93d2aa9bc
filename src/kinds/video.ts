import type { Kind } from './kind.ts';

/** The video generator. Its create request is undocumented; the fields are those that its list returns. */
export const video: Kind = {
  name: 'video',
  description: 'One video, made from a text and, where the model takes it, a first image.',
  act: 'job',
  media: 'video',
  create: { paths: ['/videos/create', '/videos'], documented: false },
  status: { path: '/video/status/{id}' },
  list: {
    path: '/videos/all',
    items: 'generations',
    paged: true,
    jobId: 'id',
    echoes: { prompt: 'prompt', model: 'model', ratio: 'ratio', duration: 'duration' },
  },
  recovery: 'list',
  fields: {
    prompt: { description: 'What happens in the video.', type: 'string', free: true },
    model: { description: 'The model that makes the video; `mediabatch list models` lists them.', type: 'string' },
    ratio: { description: 'Width to height, as in 16:9.', type: 'string' },
    duration: { description: 'Length in seconds.', type: 'number' },
    image: {
      description: 'A first image to go by: a public https URL, or the output of another task.',
      type: 'string',
      url: true,
    },
  },
  pricedBy: 'all',
  outputs: ['url', 'thumbnailUrl'],
  typicalMs: 120_000,
};
