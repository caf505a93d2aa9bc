import { describe } from 'vitest';
import { image, tasks } from '../manifest/load.ts';
import { testMistakes } from '../manifest/mistakes.ts';

testMistakes([
  {
    name: 'a typing mistake in a field',
    text: image('promt: x', 'prompt: y'),
    found: ['MB1501 7:7'],
    says: ['did you mean `prompt`'],
  },
  {
    name: 'a typing mistake in a required field',
    text: image('promt: x'),
    found: ['MB1501 7:7'],
    says: ['did you mean `prompt`'],
  },
  {
    name: 'a value in curly quotes',
    text: image('prompt: x', 'aspectRatio: “1:1”'),
    found: ['MB1503 8:20'],
    says: ['straight'],
  },
  { name: 'a missing prompt', text: image('model: alpha-2'), found: ['MB1502 6:5'], says: ['task `hero`', 'prompt'] },
  { name: 'an empty prompt', text: image('prompt: ""'), found: ['MB1502 7:15'] },
  { name: 'a prompt without value', text: image('prompt:'), found: ['MB1503 7:7'] },
  { name: 'a prompt that is a number', text: image('prompt: 2024'), found: ['MB1503 7:15'], says: ['quotes'] },
  {
    name: 'an unknown model',
    text: image('prompt: x', 'model: alpha-3'),
    found: ['MB1503 8:14'],
    says: ['alpha-2, alpha-pro, beta-5.0-pro', 'did you mean'],
  },
  {
    name: 'a resolution that the service would replace',
    text: image('prompt: x', 'resolution: 8k'),
    found: ['MB1503 8:19'],
    says: ['1k, 2k, 4k', 'silently'],
  },
  {
    name: 'a ratio of another model',
    text: image('prompt: x', 'model: alpha-pro', 'aspectRatio: "9:16"'),
    found: ['MB1503 9:20'],
    says: ['1:1, 2:3, 3:4, 4:5, 3:2, 4:3, 5:4, 16:9, 21:9'],
  },
  {
    name: 'a ratio for a model without',
    text: image('prompt: x', 'model: gamma-image-1.5', 'aspectRatio: "1:1"'),
    found: ['MB1503 9:20'],
  },
  {
    name: 'a resolution for a model without',
    text: image('prompt: x', 'model: beta-v5-lite', 'resolution: 2k'),
    found: ['MB1503 9:19'],
  },
  {
    name: 'a wrong default',
    text: `defaults: { image: { resolution: 8k } }\n${image('prompt: x')}`,
    found: ['MB1503 1:34'],
  },
  {
    name: 'a wrong default that no task uses',
    text: `defaults: { music: { out: x } }\n${image('prompt: x')}`,
    found: ['MB1501 1:22'],
  },
  {
    name: 'lyrics of 3001 characters',
    text: tasks(`  a: { kind: music, with: { prompt: x, lyrics: "${'x'.repeat(3001)}" } }`),
    found: ['MB1504 4:48'],
    says: ['3001', '3000'],
  },
  {
    name: 'a style of 1025 characters',
    text: tasks(`  a: { kind: music, with: { lyrics: y, prompt: "${'x'.repeat(1025)}" } }`),
    found: ['MB1504 4:48'],
    says: ['1025', '1024'],
  },
  {
    name: 'a text above the limit of its task, as a row makes it',
    text: tasks(
      '  a:',
      '    kind: image',
      '    key: "{{row.id}}"',
      '    foreach: [{ id: x, name: ok }, { id: y, name: "much 😀 longer" }]',
      '    with: { prompt: "a {{row.name}}" }',
      '    limits: { prompt: 13 }',
    ),
    found: ['MB1504 8:21'],
    says: ['has 15 characters', '`limits` allows 13', 'shorten it by 2'],
  },
  {
    name: 'a limit of a text that holds what another step will give, and of each text of a list',
    text: tasks(
      '  b: { kind: image, with: { prompt: y } }',
      '  a:',
      '    kind: image',
      '    with: { prompt: "1234 {{tasks.b.url}} 678", referenceImages: ["{{tasks.b.url}}"] }',
      '    limits: { prompt: 8, referenceImages: 1 }',
    ),
    found: ['MB1504 7:21'],
    says: ['has 9 characters'],
  },
  {
    name: 'a limit of a field that nobody writes',
    text: tasks('  a: { kind: image, with: { prompt: x }, limits: { promt: 4 } }'),
    found: ['MB1103 4:52'],
    says: ['did you mean `prompt`?'],
  },
  {
    name: 'a limit of the defaults’ text',
    text: `defaults: { image: { prompt: four } }\n${tasks('  a: { kind: image, limits: { prompt: 3 } }')}`,
    found: ['MB1504 1:30'],
  },
  {
    name: 'a song without lyrics',
    text: tasks('  a: { kind: music, with: { prompt: x, model: song-9 } }'),
    found: ['MB1502 4:21'],
    says: ['song-9', 'song-7.5'],
  },
  {
    name: 'a song of the default model without lyrics',
    text: tasks('  a: { kind: music, with: { prompt: x } }'),
    found: ['MB1502 4:21'],
    says: ['auto'],
  },
  {
    name: 'an instrumental without lyrics',
    text: tasks('  a: { kind: music, with: { prompt: x, model: song-7.5 } }'),
    found: [],
  },
  {
    name: 'a reference image without https',
    text: image('prompt: x', 'referenceImages: [http://example.com/a.png]'),
    found: ['MB1505 8:25'],
    says: ['public https'],
  },
  {
    name: 'reference images of a private network',
    text: image(
      'prompt: x',
      'referenceImages:',
      '  - https://localhost/a.png',
      '  - https://10.0.0.1/a.png',
      '  - https://0x7f.1/a.png',
      '  - https://[::1]/a.png',
      '  - https://user:pw@example.com/a.png',
      '  - https://example.com/a.png',
    ),
    found: ['MB1505 9:11', 'MB1505 10:11', 'MB1505 11:11', 'MB1505 12:11', 'MB1505 13:11'],
  },
  {
    name: 'one reference image instead of a list',
    text: image('prompt: x', 'referenceImages: https://example.com/a.png'),
    found: ['MB1503 8:24'],
  },
  {
    name: 'a list of outputs in a list',
    text: tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, with: { prompt: x, referenceImages: ["{{tasks.b.urls}}"] } }',
    ),
    found: ['MB1503 5:58'],
    says: ['without [ ]'],
  },
  {
    name: 'a model that another task gives',
    text: tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, with: { prompt: x, model: "{{tasks.b.url}}" } }',
    ),
    found: ['MB1503 5:47'],
  },
]);

const voiceover = (fields: string) => tasks(`  a: { kind: voiceover, with: { ${fields} } }`);
const video = (fields: string) => tasks(`  a: { kind: video, with: { ${fields} } }`);
const upload = (fields: string) => tasks(`  a: { kind: upload, with: { ${fields} } }`);

describe('kinds whose requests the service does not document', () => {
  testMistakes([
    { name: 'fields that nobody knows pass', text: video('prompt: x, fps: 24, style: { light: low }'), found: [] },
    { name: 'models that nobody knows pass', text: video('prompt: x, model: motion-9'), found: [] },
    { name: 'nothing is required', text: video('model: motion-9'), found: [] },
    {
      name: 'a field close to a known one is only a warning',
      text: video('promt: x'),
      found: ['MB1501 4:29 warning'],
      says: ['did you mean `prompt`', 'sent as it stands'],
    },
    { name: 'a field close to a known one that is there', text: video('prompt: x, promt: y'), found: [] },
    {
      name: 'a voice that is none',
      text: voiceover('text: x, voice_id: Arya'),
      found: ['MB1503 4:52'],
      says: [
        'did you mean `Aria`',
        'Aria (female, american)',
        'Charlie (male, australian)',
        'River (neutral, american)',
      ],
    },
    { name: 'a voice', text: voiceover('text: x, voice_id: River'), found: [] },
    {
      name: 'a voice that another task gives',
      text: tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: voiceover, with: { text: x, voice_id: "{{tasks.b.url}}" } }',
      ),
      found: ['MB1503 5:52'],
      says: ['before anything runs'],
    },
    { name: 'a length as a text', text: video('duration: "5"'), found: ['MB1503 4:39'], says: ['without quotes'] },
    { name: 'a link to a private network', text: video('image: https://10.0.0.1/a.png'), found: ['MB1505 4:36'] },
    { name: 'a link without https', text: video('image: http://example.com/a.png'), found: ['MB1505 4:36'] },
    {
      name: 'the output of another task as a link',
      text: tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: video, with: { image: "{{tasks.b.url}}" } }',
      ),
      found: [],
    },
    {
      name: 'the output of another task as a length',
      text: tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: video, with: { duration: "{{tasks.b.url}}" } }',
      ),
      found: ['MB1503 5:39'],
      says: ['the output of one step'],
    },
    {
      name: 'media of a post that are no list',
      text: tasks('  a: { kind: post, with: { caption: x, media: https://example.com/a.png } }'),
      found: ['MB1503 4:47'],
      says: ['put it in [ ]'],
    },
  ]);
});

describe('uploads', () => {
  testMistakes([
    { name: 'from a URL', text: upload('url: https://example.com/a.png, fileName: a.png'), found: [] },
    {
      name: 'of nothing',
      text: upload('fileName: a.png'),
      found: ['MB1502 4:22'],
      says: ['`file` or `url` is missing', 'path of a file', '200 MB'],
    },
    {
      name: 'of two things',
      text: upload('file: a.png, url: https://example.com/a.png'),
      found: ['MB1301 4:36', 'MB1503 4:48'],
      says: ['`file` and `url` cannot stand together'],
    },
    { name: 'of a number', text: upload('file: 7'), found: ['MB1503 4:36'], says: ['must be the path of a file'] },
    {
      name: 'a field that is none',
      text: upload('path: a.png'),
      found: ['MB1502 4:22', 'MB1501 4:30'],
      says: ['file'],
    },
    {
      name: 'a file that another task gives',
      text: tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: upload, with: { file: "{{tasks.b.url}}" } }',
      ),
      found: ['MB1503 5:36'],
      says: ['before anything runs'],
    },
  ]);
});
