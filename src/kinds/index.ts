/*
 * Facts about the kinds of the API, as data.
 * Takes: nothing, or a catalogue and a document that the service published.
 * Returns for each kind: fields, limits, models, list prices, and how the lost answer to a create request is recovered.
 * Independent of: steps, plans, HTTP. An undocumented fact is omitted, never guessed.
 */

import type { Kind } from './kind.ts';

/** Documented voices of the voiceover generator: gender and accent by `voice_id`. */
export const voices: Readonly<
  Record<string, { readonly gender: 'female' | 'male' | 'neutral'; readonly accent: string }>
> = {
  Aria: { gender: 'female', accent: 'american' },
  Roger: { gender: 'male', accent: 'american' },
  Sarah: { gender: 'female', accent: 'american' },
  Laura: { gender: 'female', accent: 'american' },
  Charlie: { gender: 'male', accent: 'australian' },
  George: { gender: 'male', accent: 'british' },
  Callum: { gender: 'male', accent: 'american' },
  River: { gender: 'neutral', accent: 'american' },
  Liam: { gender: 'male', accent: 'american' },
  Charlotte: { gender: 'female', accent: 'swedish' },
  Alice: { gender: 'female', accent: 'british' },
  Matilda: { gender: 'female', accent: 'american' },
  Will: { gender: 'male', accent: 'american' },
  Jessica: { gender: 'female', accent: 'american' },
  Eric: { gender: 'male', accent: 'american' },
  Chris: { gender: 'male', accent: 'american' },
  Brian: { gender: 'male', accent: 'american' },
  Daniel: { gender: 'male', accent: 'british' },
  Lily: { gender: 'female', accent: 'british' },
  Bill: { gender: 'male', accent: 'american' },
};

const aboutVoices: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(voices).map(([id, { gender, accent }]) => [id, `${gender}, ${accent}`]),
);

const beta = {
  tiers: ['basic', 'high'],
  allows: {
    resolution: [],
    aspectRatio: ['1:1', '4:3', '3:4', '16:9', '9:16', '2:3', '3:2', '21:9'],
  },
} as const;

const image: Kind = {
  name: 'image',
  description: 'One image, made from a prompt and, where the model accepts them, reference images.',
  act: 'job',
  media: 'image',
  create: { paths: ['/image-generations/create'], documented: true },
  status: { path: '/image/status/{id}' },
  recovery: 'replay',
  fields: {
    prompt: { description: 'What the image shows.', type: 'string', required: true, free: true },
    model: { description: 'The model that makes the image.', type: 'string', default: 'alpha-2' },
    aspectRatio: {
      description: 'Width to height. The allowed ratios depend on the model; `auto` is the default ratio of the model.',
      type: 'string',
      default: 'auto',
    },
    resolution: {
      description: 'Size of the image. The allowed sizes depend on the model, and the price depends on the size.',
      type: 'string',
      default: '2k',
    },
    referenceImages: {
      description: 'Reference images, as many as the model allows: public https URLs, or outputs of other tasks.',
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
        description: 'The default model, with the most aspect ratios.',
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
        description: 'Does not support the aspect ratios `auto` and 9:16.',
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
        description: 'An alias of gamma-image-2. The image size is given in pixels instead of an aspect ratio.',
        aliasOf: 'gamma-image-2',
        allows: {
          resolution: ['1024x1024', '1024x1536', '1536x1024'],
          aspectRatio: [],
        },
      },
      'gamma-image-2': {
        description: 'Supports six aspect ratios, including `auto`.',
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

/** Every song model requires lyrics, including the model `auto`. */
const song = { requires: ['lyrics'] } as const;

const music: Kind = {
  name: 'music',
  description: 'One piece of music: a song with lyrics, or an instrumental.',
  act: 'job',
  media: 'audio',
  create: { paths: ['/music-generations/create'], documented: true },
  status: { path: '/music/status/{id}' },
  remove: { path: '/music-generations/{id}', by: 'job' },
  recovery: 'replay',
  fields: {
    prompt: {
      description: 'The style: genre, mood, tempo, voice.',
      type: 'string',
      free: true,
      required: true,
      maxLength: 1024,
    },
    lyrics: {
      description: 'The lyrics. Every model except song-7.5 requires lyrics.',
      type: 'string',
      free: true,
      maxLength: 3000,
    },
    model: { description: 'The model that makes the music.', type: 'string', default: 'auto' },
    output_format: {
      description: 'Format of the audio file.',
      type: 'string',
      values: ['mp3', 'wav', 'flac'],
      default: 'mp3',
    },
  },
  model: {
    field: 'model',
    default: 'auto',
    models: {
      auto: { description: 'The same as song-9: a full song with lyrics.', credits: 5, aliasOf: 'song-9', ...song },
      'song-9': { description: 'A full song with lyrics.', credits: 5, ...song },
      'song-8': { description: 'A full song with lyrics.', credits: 5, ...song },
      'song-o2': { description: 'A full song with lyrics.', credits: 6, ...song },
      'song-7.6': { description: 'A full song with lyrics.', credits: 4, ...song },
      'song-7.5': { description: 'Instrumental background music; needs no lyrics.', credits: 4 },
    },
  },
  pricedBy: [],
  outputs: ['url'],
  typicalMs: 90_000,
};

/**
 * `voice_id` and the voices are documented. The field names `text`, `model` and `output_format` are undocumented: they
 * come from the generator's lists and from the music generator.
 */
const voiceover: Kind = {
  name: 'voiceover',
  description: 'One spoken text, in one of 20 voices.',
  act: 'job',
  media: 'audio',
  create: { paths: ['/voiceovers/create', '/voiceovers'], documented: false },
  status: { path: '/voiceovers/status/{id}' },
  list: {
    path: '/voiceovers/all',
    items: 'generations',
    paged: true,
    jobId: 'id',
    echoes: { text: 'text', voice_id: 'voiceId', model: 'model', output_format: 'outputFormat' },
  },
  recovery: 'list',
  fields: {
    text: { description: 'What is spoken.', type: 'string', free: true },
    voice_id: {
      description: 'Who speaks.',
      type: 'string',
      values: Object.keys(voices),
      about: aboutVoices,
      priced: false,
    },
    model: { description: 'The model that makes the voiceover.', type: 'string' },
    output_format: { description: 'Format of the audio file, for example mp3.', type: 'string', priced: false },
  },
  pricedBy: 'all',
  outputs: ['url'],
  typicalMs: 20_000,
};

/** The create request is undocumented. The request has the same fields as a job in the service's list. */
const video: Kind = {
  name: 'video',
  description: 'One video, made from a prompt and, where the model accepts it, a first image.',
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
      description: 'The first image of the video: a public https URL, or the output of another task.',
      type: 'string',
      url: true,
    },
  },
  pricedBy: 'all',
  outputs: ['url', 'thumbnailUrl'],
  typicalMs: 120_000,
};

/** The create request is undocumented. Records of jobs contain `videoUrl`. */
const clipping: Kind = {
  name: 'clipping',
  description: 'Short clips cut out of one long video.',
  act: 'job',
  media: 'video',
  create: { paths: ['/clippings/create', '/clippings'], documented: false },
  // The service updates the job from its provider before it answers this path. Records from other paths may be stale.
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

/** The create request is undocumented. The fields of the request are those of a job's record. */
const thumbnail: Kind = {
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
      description: 'A reference image: a public https URL, or the output of another task.',
      type: 'string',
      url: true,
    },
  },
  pricedBy: 'all',
  outputs: ['url'],
  typicalMs: 20_000,
};

/** The create request and a list of jobs are undocumented. */
const influencer: Kind = {
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
      description: 'Reference images: public https URLs, or outputs of other tasks.',
      type: 'strings',
      url: true,
    },
  },
  pricedBy: 'all',
  outputs: ['url'],
  typicalMs: 20_000,
};

/** The upload is fully documented and costs no credits. */
const upload: Kind = {
  name: 'upload',
  description: 'A file of yours in the media library, under a public URL that other tasks can use.',
  act: 'upload',
  media: 'none',
  create: { paths: ['/uploads'], documented: true },
  recovery: 'again',
  fields: {
    file: {
      description: 'Path of a file below the folder of the manifest. Files with the same content are uploaded once.',
      type: 'file',
    },
    url: {
      description: 'Instead of `file`: a public https URL that the service fetches, at most 200 MB.',
      type: 'string',
      url: true,
    },
    fileName: {
      description: 'Name of the file in the library (default: the name on disk).',
      type: 'string',
      free: true,
    },
    contentType: {
      description: 'Media type of the file. Default: set by the file extension.',
      type: 'string',
      free: true,
    },
  },
  oneOf: [['file', 'url']],
  pricedBy: [],
  free: true,
  outputs: ['url'],
  typicalMs: 5_000,
};

/**
 * The create request is undocumented. The documentation states a cost in credits only for generators. If the answer to
 * a create request contains a charge, the charge is recorded.
 */
const post: Kind = {
  name: 'post',
  description: 'A post on social accounts. Posts are sent last, each at most once.',
  act: 'post',
  media: 'none',
  create: { paths: ['/posts', '/posts/create'], documented: false },
  recovery: 'ask',
  fields: {
    accountIds: {
      description: 'Accounts that publish the post; `mediabatch list accounts` lists them.',
      type: 'strings',
    },
    caption: { description: 'The text of the post.', type: 'string', free: true },
    media: {
      description: 'Images or videos of the post: public https URLs, or outputs of other tasks.',
      type: 'strings',
      url: true,
    },
    scheduledAt: {
      description: 'Time of publication, ISO 8601. Omitted: published immediately.',
      type: 'string',
      free: true,
    },
  },
  pricedBy: [],
  free: true,
  outputs: [],
  typicalMs: 5_000,
};

const all = { image, music, voiceover, video, clipping, thumbnail, influencer, upload, post };

/** The object has no prototype, so that `constructor` is not a kind. */
export const kinds: Readonly<Record<string, Kind>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, Kind>, all),
);

export function requireKind(name: string): Kind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`internal error: no kind ${name}`);
  return kind;
}

/** Returns whether a repeated request is free. The purchase journal does not record create requests of these kinds. */
export function isFreelyRepeated(name: string): boolean {
  return kinds[name]?.recovery === 'again';
}

export function requireOf<Part extends 'status' | 'remove'>(name: string, part: Part): NonNullable<Kind[Part]> {
  const found = requireKind(name)[part];
  if (found === undefined) throw new Error(`internal error: no ${part} of the kind ${name}`);
  return found;
}
