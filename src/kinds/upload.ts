import type { Kind } from './kind.ts';

/** Uploads a file to the media library. Documented in full; it costs no credits. */
export const upload: Kind = {
  name: 'upload',
  description: 'A file of yours in the media library, under a public URL that other tasks can use.',
  act: 'upload',
  media: 'none',
  create: { paths: ['/uploads'], documented: true },
  recovery: 'again',
  fields: {
    file: {
      description: 'Path of a file below the folder of the manifest. The same bytes are uploaded once.',
      type: 'file',
    },
    url: {
      description: 'Instead of `file`: a public https URL that the service fetches, at most 200 MB.',
      type: 'string',
      url: true,
    },
    fileName: { description: 'Its name in the library. Default: the name of the file.', type: 'string', free: true },
    contentType: { description: 'Its media type. Default: by the extension of the file.', type: 'string', free: true },
  },
  oneOf: [['file', 'url']],
  pricedBy: [],
  free: true,
  outputs: ['url'],
  typicalMs: 5_000,
};
