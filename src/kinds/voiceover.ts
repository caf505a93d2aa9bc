import type { Kind } from './kind.ts';
import { aboutVoices, voices } from './voices.ts';

/**
 * The voiceover generator. Its create request is undocumented: the names of `text`, `model` and `output_format` are
 * inferred from its lists and from the music generator; `voice_id` and the voices are documented.
 */
export const voiceover: Kind = {
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
