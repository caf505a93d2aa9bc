import type { Kind } from './kind.ts';

/** The thumbnail generator. Its create request is undocumented; the fields are those that its records return. */
export const thumbnail: Kind = {
  name: 'thumbnail',
  description: 'One thumbnail for a video.',
  act: 'job',
  media: 'image',
  create: { paths: ['/thumbnails/create', '/thumbnails'], documented: false },
  status: { path: '/image/status/{id}' },
  list: {
    path: '/thumbnails',
    items: 'data',
    paged: false,
    jobId: 'jobId',
    echoes: { title: 'title', description: 'description', link: 'link' },
  },
  remove: { path: '/thumbnails/{id}', by: 'record' },
  recovery: 'list',
  fields: {
    title: { description: 'The title that the thumbnail is for.', type: 'string', free: true },
    description: { description: 'What it shows.', type: 'string', free: true },
    link: { description: 'Link to the video of the thumbnail.', type: 'string', free: true },
    image: {
      description: 'An image to go by: a public https URL, or the output of another task.',
      type: 'string',
      url: true,
    },
  },
  pricedBy: 'all',
  outputs: ['url'],
  typicalMs: 20_000,
};
