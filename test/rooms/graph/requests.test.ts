import { describe } from 'vitest';
import { image, tasks } from '../manifest/load.ts';
import { testMistakes } from '../manifest/mistakes.ts';

testMistakes([
  ['a typing mistake in a field', image('promt: x', 'prompt: y'), 'MB1501 7:7', 'did you mean `prompt`'],
  ['a typing mistake in a required field', image('promt: x'), 'MB1501 7:7', 'did you mean `prompt`'],
  ['a value in curly quotes', image('prompt: x', 'aspectRatio: “1:1”'), 'MB1503 8:20', 'straight'],
  ['a missing prompt', image('model: alpha-2'), 'MB1502 6:5', 'task `hero`', 'prompt'],
  ['an empty prompt', image('prompt: ""'), 'MB1502 7:15'],
  ['a prompt without value', image('prompt:'), 'MB1503 7:7'],
  ['a prompt that is a number', image('prompt: 2024'), 'MB1503 7:15', 'quotes'],
  [
    'an unknown model',
    image('prompt: x', 'model: alpha-3'),
    'MB1503 8:14',
    'alpha-2, alpha-pro, beta-5.0-pro',
    'did you mean',
  ],
  [
    'a resolution that the service would replace',
    image('prompt: x', 'resolution: 8k'),
    'MB1503 8:19',
    '1k, 2k, 4k',
    'silently',
  ],
  ['a ratio for a model without', image('prompt: x', 'model: gamma-image-1.5', 'aspectRatio: "1:1"'), 'MB1503 9:20'],
  ['a resolution for a model without', image('prompt: x', 'model: beta-v5-lite', 'resolution: 2k'), 'MB1503 9:19'],
  ['a wrong default', `defaults: { image: { resolution: 8k } }\n${image('prompt: x')}`, 'MB1503 1:34'],
  ['a wrong default that no task uses', `defaults: { music: { out: x } }\n${image('prompt: x')}`, 'MB1501 1:22'],
  [
    'lyrics of 3001 characters',
    tasks(`  a: { kind: music, with: { prompt: x, lyrics: "${'x'.repeat(3001)}" } }`),
    'MB1504 4:48',
    '3001',
    '3000',
  ],
  [
    'a style of 1025 characters',
    tasks(`  a: { kind: music, with: { lyrics: y, prompt: "${'x'.repeat(1025)}" } }`),
    'MB1504 4:48',
    '1025',
    '1024',
  ],
  [
    'a text above the limit of its task, as a row makes it',
    tasks(
      '  a:',
      '    kind: image',
      '    key: "{{row.id}}"',
      '    foreach: [{ id: x, name: ok }, { id: y, name: "much 😀 longer" }]',
      '    with: { prompt: "a {{row.name}}" }',
      '    limits: { prompt: 13 }',
    ),
    'MB1504 8:21',
    'has 15 characters',
    '`limits` allows 13',
    'shorten it by 2',
  ],
  [
    'a limit of a text that holds what another step will give, and of each text of a list',
    tasks(
      '  b: { kind: image, with: { prompt: y } }',
      '  a:',
      '    kind: image',
      '    with: { prompt: "1234 {{tasks.b.url}} 678", referenceImages: ["{{tasks.b.url}}"] }',
      '    limits: { prompt: 8, referenceImages: 1 }',
    ),
    'MB1504 7:21',
    'has 9 characters',
  ],
  [
    'a limit of a field that nobody writes',
    tasks('  a: { kind: image, with: { prompt: x }, limits: { promt: 4 } }'),
    'MB1103 4:52',
    'did you mean `prompt`?',
  ],
  [
    'a limit of the defaults’ text',
    `defaults: { image: { prompt: four } }\n${tasks('  a: { kind: image, limits: { prompt: 3 } }')}`,
    'MB1504 1:30',
  ],
  [
    'a song of the default model without lyrics',
    tasks('  a: { kind: music, with: { prompt: x } }'),
    'MB1502 4:21',
    'auto',
  ],
  ['an instrumental without lyrics', tasks('  a: { kind: music, with: { prompt: x, model: song-7.5 } }'), ''],
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
  [
    'a model that another task gives',
    tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, with: { prompt: x, model: "{{tasks.b.url}}" } }',
    ),
    'MB1503 5:47',
  ],
]);

const voiceover = (fields: string) => tasks(`  a: { kind: voiceover, with: { ${fields} } }`);
const video = (fields: string) => tasks(`  a: { kind: video, with: { ${fields} } }`);

describe('kinds whose requests the service does not document', () => {
  testMistakes([
    ['fields that nobody knows pass', video('prompt: x, fps: 24, style: { light: low }'), ''],
    ['models that nobody knows pass', video('prompt: x, model: motion-9'), ''],
    ['nothing is required', video('model: motion-9'), ''],
    [
      'a field close to a known one is only a warning',
      video('promt: x'),
      'MB1501 4:29 warning',
      'did you mean `prompt`',
      'sent as it stands',
    ],
    ['a field close to a known one that is there', video('prompt: x, promt: y'), ''],
    [
      'a voice that is none',
      voiceover('text: x, voice_id: Arya'),
      'MB1503 4:52',
      'did you mean `Aria`',
      'Aria (female, american)',
      'Charlie (male, australian)',
      'River (neutral, american)',
    ],
    ['a voice', voiceover('text: x, voice_id: River'), ''],
    [
      'a voice that another task gives',
      tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: voiceover, with: { text: x, voice_id: "{{tasks.b.url}}" } }',
      ),
      'MB1503 5:52',
      'before anything runs',
    ],
    {
      name: 'an empty cell that leaves nothing to make',
      text: tasks(
        '  a: { kind: voiceover, foreach: a.csv, key: "{{row.id}}", with: { text: "{{row.[Text DE]}}", voice_id: Aria } }',
        '  b: { kind: video, foreach: a.csv, key: "{{row.id}}", with: { prompt: "{{row.[Text DE]}}", image: "{{row.image}}" } }',
        '  c: { kind: voiceover, foreach: a.csv, key: "{{row.id}}", with: { text: "{{row.[Text DE]}}", script: x } }',
      ),
      data: { 'a.csv': 'id,Text DE,image\nA,x,\nB,,https://example.com/b.png\n' },
      found: ['MB1502 4:74'],
      says: ['`Text DE` of row 2 of a.csv has no value', 'when: "{{row.[Text DE]}}"'],
    },
    ['a length as a text', video('duration: "5"'), 'MB1503 4:39', 'without quotes'],
    { name: 'a link to a private network', text: video('image: https://10.0.0.1/a.png'), found: ['MB1505 4:36'] },
    { name: 'a link without https', text: video('image: http://example.com/a.png'), found: ['MB1505 4:36'] },
    [
      'the output of another task as a length',
      tasks('  b: { kind: image, with: { prompt: x } }', '  a: { kind: video, with: { duration: "{{tasks.b.url}}" } }'),
      'MB1503 5:39',
      'the output of one step',
    ],
    {
      name: 'media of a post that are no list',
      text: tasks('  a: { kind: post, with: { caption: x, media: https://example.com/a.png } }'),
      found: ['MB1503 4:47'],
      says: ['put it in [ ]'],
    },
  ]);
});
