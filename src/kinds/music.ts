import type { Kind } from './kind.ts';

/** Every model that makes songs requires lyrics, including `auto`. */
const song = { requires: ['lyrics'] } as const;

/** The music generator, with the models, lengths and credits of the service's documentation. */
export const music: Kind = {
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
      description: 'What is sung. Required by every model but song-7.5.',
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
