import type { JsonObject } from '../wire.ts';
import { describeEnd, describeLink, describeProgress } from './job-view.ts';
import { entryNamed, readText, type SandboxKind } from './kind.ts';
import { generation } from './schemas.ts';

const models: Readonly<Record<string, { readonly runs: string; readonly credits: number; readonly sings: boolean }>> = {
  auto: { runs: 'song-9', credits: 5, sings: true },
  'song-9': { runs: 'song-9', credits: 5, sings: true },
  'song-8': { runs: 'song-8', credits: 5, sings: true },
  'song-o2': { runs: 'song-o2', credits: 6, sings: true },
  'song-7.6': { runs: 'song-7.6', credits: 4, sings: true },
  'song-7.5': { runs: 'song-7.5', credits: 4, sings: false },
};

const mediaTypes = { mp3: 'audio/mpeg', wav: 'audio/wav', flac: 'audio/flac' } as const;

const instrumental = Object.keys(models).filter((key) => models[key]?.sings === false);

export const music: SandboxKind = {
  name: 'music',
  create: {
    path: '/music-generations/create',
    replays: true,
    schemaName: 'MusicCreate',
    body: {
      type: 'object',
      required: ['prompt'],
      properties: {
        prompt: {
          type: 'string',
          minLength: 1,
          pattern: '\\S',
          maxLength: 1024,
          description: 'Style: genre, mood, tempo, vocals.',
        },
        lyrics: { type: 'string', maxLength: 3000, description: 'Required for models that sing.' },
        model: { type: 'string', enum: Object.keys(models), default: 'auto' },
        output_format: { type: 'string', enum: Object.keys(mediaTypes), default: 'mp3' },
      },
      if: { properties: { model: { enum: instrumental } }, required: ['model'] },
      else: { required: ['lyrics'], properties: { lyrics: { pattern: '\\S' } } },
      'x-models': Object.fromEntries(
        Object.entries(models).map(([key, model]) => [
          key,
          {
            ...(model.runs === key ? {} : { aliasOf: model.runs }),
            credits: model.credits,
            lyrics: model.sings ? 'required' : 'ignored',
          },
        ]),
      ),
    },
    answer: { generation: generation({}) },
    describe: ({ id }) => ({ generation: { id, status: 'QUEUED' } }),
  },
  status: {
    paths: ['/music/status/{id}'],
    schemaName: 'MusicJob',
    progress: 'by the clock',
    describe: (job) => ({ ...describeProgress(job), ...describeLink('outputUrl', job), ...describeEnd(job) }),
  },
  remove: { path: '/music-generations/{generationId}', by: 'job' },
  durationMs: { least: 5_000, most: 9_000 },
  models: Object.entries(models).map(([key, { runs, credits }]) => ({
    key,
    aliasOf: runs === key ? null : runs,
    credits,
    per: 'job',
    creditsBy: {},
    allowed: { output_format: Object.keys(mediaTypes) },
  })),

  findProblem(body) {
    const { key, sings } = chooseModel(body);
    if (sings && readText(body, 'lyrics', '').trim() === '') return `lyrics are required for the model ${key}.`;
    return undefined;
  },

  settle(body) {
    const { runs, credits } = chooseModel(body);
    return { model: runs, credits };
  },

  listFiles({ body }) {
    const format = readFormat(body);
    return [{ name: `song.${format}`, mediaType: mediaTypes[format] }];
  },

  async render(order) {
    const { renderSong } = await import('../render/sound.ts');
    return renderSong({ seed: order.seed, format: readFormat(order.body) });
  },
};

function chooseModel(body: JsonObject) {
  const key = readText(body, 'model', 'auto');
  return { key, ...entryNamed(models, key) };
}

function readFormat(body: JsonObject): keyof typeof mediaTypes {
  const format = readText(body, 'output_format', 'mp3');
  return format === 'wav' || format === 'flac' ? format : 'mp3';
}
