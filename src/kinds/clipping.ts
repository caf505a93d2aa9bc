import type { Kind } from './kind.ts';

/** Cuts a long video into short clips. Its create request is undocumented; its records return `videoUrl`. */
export const clipping: Kind = {
  name: 'clipping',
  description: 'Short clips cut out of one long video.',
  act: 'job',
  media: 'video',
  create: { paths: ['/clippings/create', '/clippings'], documented: false },
  // This path queries the provider before it answers, while the plain record may be stale.
  status: { path: '/clippings/status/{id}', alias: '/clippings/refresh/{id}' },
  list: {
    path: '/clippings/all',
    items: 'data',
    paged: false,
    jobId: 'id',
    echoes: { videoUrl: 'videoUrl' },
    isStale: true,
  },
  remove: { path: '/clippings/{id}', by: 'job' },
  recovery: 'list',
  fields: {
    videoUrl: {
      description: 'The long video: a public https URL, or the output of another task, such as an upload.',
      type: 'string',
      url: true,
    },
  },
  pricedBy: 'all',
  outputs: ['url'],
  parts: { name: 'clips', most: 100 },
  typicalMs: 300_000,
};
