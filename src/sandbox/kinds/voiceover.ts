import type { JsonObject } from '../wire.ts';
import { describeAsset, describeEnd, describeLink, describeProgress } from './job-view.ts';
import { type CatalogModel, entryNamed, readText, type SandboxKind } from './kind.ts';
import { bodyNotShown, describeModels, generation } from './schemas.ts';
import { voices } from './voices.ts';

/** Number of characters per credit. A started credit is charged as a whole. */
const charactersPerCredit: Readonly<Record<string, 250 | 500>> = { 'speech-2': 250, 'speech-2-lite': 500 };
const defaultModel = 'speech-2';
const mediaTypes = { mp3: 'audio/mpeg', wav: 'audio/wav', flac: 'audio/flac' } as const;

const models: readonly CatalogModel[] = Object.entries(charactersPerCredit).map(([key, characters]) => ({
  key,
  aliasOf: null,
  credits: 1,
  per: `${characters} characters`,
  creditsBy: {},
  allowed: { output_format: Object.keys(mediaTypes), voice_id: voices.map(({ id }) => id) },
}));

export const voiceover: SandboxKind = {
  name: 'voiceover',
  create: {
    path: '/voiceovers/create',
    replays: false,
    schemaName: 'VoiceoverCreate',
    body: {
      type: 'object',
      required: ['text', 'voice_id'],
      properties: {
        text: { type: 'string', minLength: 1, pattern: '\\S', maxLength: 5000, description: 'What is spoken.' },
        voice_id: { type: 'string', enum: voices.map(({ id }) => id), description: 'Who speaks.' },
        model: { type: 'string', enum: Object.keys(charactersPerCredit), default: defaultModel },
        output_format: { type: 'string', enum: Object.keys(mediaTypes), default: 'mp3' },
      },
      'x-models': describeModels(models),
      ...bodyNotShown,
    },
    answer: { generation: generation({ model: { type: 'string' } }) },
    describe: ({ id, model }) => ({ generation: { id, status: 'QUEUED', model } }),
  },
  status: {
    paths: ['/voiceovers/status/{id}'],
    schemaName: 'VoiceoverJob',
    progress: 'by the clock',
    describe: (job) => ({
      ...describeProgress(job),
      voiceId: readText(job.body, 'voice_id', ''),
      ...describeLink('outputUrl', job),
      ...describeEnd(job),
    }),
  },
  list: {
    path: '/voiceovers/all',
    items: 'generations',
    paging: 'pages',
    byModel: false,
    schemaName: 'VoiceoverItem',
    describe: (job) => ({
      ...describeProgress(job),
      text: readText(job.body, 'text', ''),
      voiceId: readText(job.body, 'voice_id', ''),
      model: job.model,
      outputFormat: readFormat(job.body),
      ...describeAsset('outputAsset', job),
    }),
  },
  durationMs: { least: 15_000, most: 25_000 },
  models,

  findProblem: () => undefined,

  settle(body) {
    const model = readText(body, 'model', defaultModel);
    const characters = entryNamed(charactersPerCredit, model);
    return { model, credits: Math.ceil([...readText(body, 'text', '')].length / characters) };
  },

  listFiles({ body }) {
    const format = readFormat(body);
    return [{ name: `voiceover.${format}`, mediaType: mediaTypes[format] }];
  },

  async render({ seed, body }) {
    const { renderSpeech } = await import('../render/sound.ts');
    const [text, voice] = [readText(body, 'text', ''), readText(body, 'voice_id', '')];
    return renderSpeech({ seed, text, voice, format: readFormat(body) });
  },
};

function readFormat(body: JsonObject): keyof typeof mediaTypes {
  const format = readText(body, 'output_format', 'mp3');
  return format === 'wav' || format === 'flac' ? format : 'mp3';
}
