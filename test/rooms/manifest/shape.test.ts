import { describe, expect, it } from 'vitest';
import type { Task } from '../../../src/manifest/manifest.ts';
import { image, parse, oneTaskOf as task, tasks } from './load.ts';
import { testMistakes, testShapeMistakes } from './mistakes.ts';

describe('shape', () => {
  testMistakes([
    ['no map', '- a\n', 'MB1103 1:1'],
    ['nothing required', 'vars: {}\n', 'MB1102 1:1, MB1102 1:1, MB1102 1:1'],
    ['a mistake in a required key', image('prompt: x').replace('name:', 'nmae:'), 'MB1101 2:1', 'did you mean `name`'],
    ['no tasks', 'version: 1\nname: x\ntasks: {}\n', 'MB1103 3:1', '`tasks` is empty'],
    ['a version in curly quotes', image('prompt: x').replace('version: 1', 'version: “1”'), 'MB1103 1:10', 'straight'],
    [
      'a canary that is no number',
      tasks('  a: { kind: image, with: { prompt: x }, canary: x }'),
      'MB1103 4:50',
      'a whole number from 1 to 20, or a map, as in `canary: { first: 2, then: ask }`',
    ],
    [
      'canaries of a negative number, and with an unknown `then`',
      tasks('  a: { kind: image, with: { prompt: x }, canary: { first: -1, then: wait } }'),
      'MB1103 4:59, MB1103 4:69',
      'a whole number from 1 to 20',
      '`check` or `ask`',
    ],
    [
      'a canary of an upload and of a post',
      tasks(
        '  a: { kind: upload, with: { file: x.png }, canary: 1 }',
        '  b: { kind: post, with: { caption: x, accounts: [1] }, canary: { then: ask } }',
      ),
      'MB1103 4:45, MB1103 5:57, MB1301 4:36, MB1501 5:40 warning',
      'an upload costs nothing',
      'a separate consent',
    ],
    [
      'a canary and a gate that ask the same',
      tasks('  a: { kind: image, with: { prompt: x }, gate: approve, canary: { then: ask } }'),
      'MB1103 4:73',
      'cannot both ask for a pick',
      'write then: check, or remove `gate`',
    ],
    ['a key of an anchor', `x-base: &b { prompt: x }\n${tasks('  a: { kind: image, with: *b }')}`, ''],
    ['the service', `service: { url: "https://x" }\n${image('prompt: x')}`, 'MB1104 1:12', 'MEDIABATCH_BASE_URL'],
    ['the key of the service', `service: { apiKey: x }\n${image('prompt: x')}`, 'MB1104 1:12', 'MEDIABATCH_API_KEY'],
    ['a later version', image('prompt: x').replace('version: 1', 'version: 2'), 'MB1105 1:10'],
    ['a name with a space', image('prompt: x').replace('name: test', 'name: My Test'), 'MB1103 2:7', 'lower-case'],
    ['a task name with a slash', tasks('  a/b: { kind: image, with: { prompt: x } }'), 'MB1103 4:3'],
    ['an unknown kind', tasks('  a: { kind: imag, with: { prompt: x } }'), 'MB1103 4:14', 'did you mean `image`'],
    ['takes in quotes', tasks('  a: { kind: image, with: { prompt: x }, takes: "4" }'), 'MB1103 4:49', 'from 1 to 20'],
    ['too many takes', tasks('  a: { kind: image, with: { prompt: x }, takes: 21 }'), 'MB1103 4:49'],
    ['needs as a string', tasks('  a: { kind: image, with: { prompt: x }, needs: b }'), 'MB1103 4:49'],
    ['an empty budget', `budget:\n${image('prompt: x')}`, 'MB1103 1:1', 'is empty'],

    {
      name: 'a var that is not declared',
      text: `vars: { locale: en }\n${image('prompt: "{{vars.locale}} x"')}`,
      vars: { local: 'de' },
      found: ['MB1101 1:1'],
      says: ['did you mean `locale`'],
    },
    {
      name: 'a var that resembles no declared one',
      text: `vars: { brand: x, seasons: [a] }\n${image('prompt: x')}`,
      vars: { foo: '1' },
      found: ['MB1101 1:1'],
      says: ['declared vars: brand, seasons; or declare it under `vars:`'],
    },
    {
      name: 'a var that is a list without quotes',
      text: `vars: { seasons: [spring, new year's eve] }\n${image('prompt: x')}`,
      vars: { seasons: '[autumn]' },
      found: ['MB1103 1:9'],
      says: [`--var 'seasons=["spring","new year'\\''s eve"]'`],
    },
    {
      name: 'a var that is no number',
      text: `vars: { count: 3 }\n${image('prompt: "{{vars.count}} x"')}`,
      vars: { count: 'four' },
      found: ['MB1103 1:9'],
    },
  ]);
});

it.each<[string, Partial<Task>]>([
  ['when: true', { when: true }],
  ['when: false', { when: false }],
  ['when: "{{row.active}}"', { when: '{{row.active}}' }],
  ['when: "{{eq row.market \\"de\\"}}"', { when: '{{eq row.market "de"}}' }],
  ['timeout: 90s', { timeoutMs: 90_000 }],
  ['pin: true', { pin: true }],
  ['timeout: 1.5h', { timeoutMs: 5_400_000 }],
  ['retry: { attempts: 2 }', { retry: { attempts: 2 } }],
  ['retry: { attempts: 5, credits: 0 }', { retry: { attempts: 5, credits: 0 } }],
  ['expect: { width: 1024 }', { expect: { width: { min: 1024, max: 1024 } } }],
  ['expect: { height: { min: 5 }, bytes: { max: 9 } }', { expect: { height: { min: 5 }, bytes: { max: 9 } } }],
  ['expect: { ratio: 16:9, type: image/png }', { expect: { ratio: '16:9', type: 'image/png' } }],
  ['foreach: p.csv', { rows: { from: 'file', path: 'p.csv' } }],
  ['foreach: p.csv, schema: p.schema.json', { schema: 'p.schema.json' }],
  ['foreach: "photos/*.jpg"', { rows: { from: 'files', pattern: 'photos/*.jpg' } }],
  ['foreach: "photos/{a,b}.jpg"', { rows: { from: 'files', pattern: 'photos/{a,b}.jpg' } }],
  ['foreach: "{{vars.list}}"', { rows: { from: 'var', text: '{{vars.list}}' } }],
])('%s', (keys, wanted) => {
  const { manifest, diagnostics } = parse(task(keys));
  expect(diagnostics).toEqual([]);
  expect(manifest?.tasks[0]).toMatchObject({ folder: '', ...wanted });
  const known = Object.entries(manifest?.tasks[0] ?? {}).filter(([, value]) => value !== undefined);
  expect(known.map(([name]) => name).sort()).toEqual(
    [...new Set(['folder', 'from', 'id', 'kind', 'needs', 'rows', 'tags', 'with', ...Object.keys(wanted)])].sort(),
  );
});

it('a length is met half a second earlier or later, unless a range is written', () => {
  const read = (duration: string) =>
    parse(task(`expect: { duration: ${duration} }`, 'video')).manifest?.tasks[0]?.expect?.durationSeconds;
  expect(read('8')).toEqual({ min: 7.5, max: 8.5 });
  expect(read('0.2')).toEqual({ min: 0, max: 0.7 });
  expect(read('{ min: 7.9, max: 8.1 }')).toEqual({ min: 7.9, max: 8.1 });
});

it('a mistake leaves out the value that has it, and nothing else', () => {
  const { manifest } = parse(
    task('when: yes, timeout: 90, retry: 2, pin: yes, expect: { width: x, ratio: "1:1" }, takes: 2'),
  );
  const wrong = { when: undefined, timeoutMs: undefined, retry: undefined, pin: undefined };
  expect(manifest?.tasks[0]).toMatchObject({ takes: 2, expect: { ratio: '1:1' }, ...wrong });
  expect(manifest?.sound).toBe(false);
});

describe('when', () => {
  testShapeMistakes([
    ['yes', task('when: yes'), 'MB1103 4:27', 'YAML 1.2', 'write when: true'],
    ['a name without braces', task('when: row.active'), 'MB1103 4:27', '"{{row.active}}"'],
    ['single braces', task('when: "{ row.active }"'), 'MB1103 4:27', '"{{row.active}}"'],
    ['an empty string', task('when: ""'), 'MB1103 4:27', 'write true, false'],
    ['nothing', task('when:'), 'MB1103 4:21', 'is empty'],
    ['a template without quotes', task('when: {{row.active}}'), 'MB1008 4:27', '"{{row.active}}"'],
    [
      'a template without quotes and a string behind it',
      tasks('  a:', '    kind: image', '    when: {{row.a}} true'),
      'MB1008 6:11',
      '"{{row.a}} true"',
    ],
    ['a typing mistake', task('wehn: true'), 'MB1101 4:21', 'did you mean `when`'],
  ]);
});

describe('pin', () => {
  testShapeMistakes([
    ['a word', task('pin: yes'), 'MB1103 4:26', 'true or false'],
    ['a template', task('pin: "{{vars.t}}"'), 'MB1202 4:26', 'cannot be a template'],
  ]);
});

describe('timeout', () => {
  testShapeMistakes([
    ['a number', task('timeout: 90'), 'MB1103 4:30', 'with its unit', '90s, 30m or 2h'],
    ['nothing', task('timeout: 0s'), 'MB1103 4:30'],
    ['a template', task('timeout: "{{vars.t}}"'), 'MB1202 4:30', '`timeout` cannot be a template'],
    ['a template without quotes', task('timeout: {{vars.t}}'), 'MB1008 4:30'],
    ['a typing mistake', task('time-out: 9s'), 'MB1101 4:21', 'did you mean `timeout`'],
  ]);
});

describe('retry', () => {
  testShapeMistakes([
    ['a number', task('retry: 3'), 'MB1103 4:28', 'attempts'],
    ['true', task('retry: true'), 'MB1103 4:28', 'retry: { attempts: 2 }'],
    ['no attempts', task('retry: { credits: 5 }'), 'MB1102 4:21', 'add `attempts:`'],
    ['one attempt', task('retry: { attempts: 1 }'), 'MB1103 4:40', 'from 2 to 5'],
    ['half a credit', task('retry: { attempts: 2, credits: 0.5 }'), 'MB1103 4:52', 'whole'],
    ['a post', task('retry: { attempts: 2 }', 'post'), 'MB1103 4:20', 'sent once'],
  ]);
});

describe('expect', () => {
  testShapeMistakes([
    ['a string', task('expect: image/png'), 'MB1103 4:29', 'expect: { width'],
    ['nothing in it', task('expect: {}'), 'MB1103 4:21', 'is empty'],
    ['a typing mistake', task('expcet: { width: 5 }'), 'MB1101 4:21', 'did you mean `expect`'],
    ['a typing mistake inside', task('expect: { widht: 5 }'), 'MB1101 4:31', 'did you mean `width`'],
    ['no pixel', task('expect: { height: 0 }'), 'MB1103 4:39'],
    ['a size in words', task('expect: { bytes: 2MB }'), 'MB1103 4:38', '"2MB"', 'a whole number'],
    ['a range upside down', task('expect: { width: { min: 9, max: 5 } }'), 'MB1103 4:31', '{ min: 5, max: 9 }'],
    ['a ratio with an x', task('expect: { ratio: 16x9 }'), 'MB1103 4:38', '"16:9"'],
    ['an extension', task('expect: { type: png }'), 'MB1103 4:37', 'image/png'],
    ['a type of other media', task('expect: { type: audio/mpeg }'), 'MB1103 4:37', 'gives image files'],
    ['the length of an image', task('expect: { duration: 5 }'), 'MB1103 4:31', 'cannot be measured'],
    ['the width of a song', task('expect: { width: 5 }', 'music'), 'MB1103 4:31', 'cannot be measured'],
    ['how loud a picture is', task('expect: { loudness: { lufs: [-16, -13] } }'), 'MB1103 4:31', 'which have no sound'],
    ['a song that is not blank', task('expect: { blank: false }', 'music'), 'MB1103 4:31', 'which have no picture'],
    [
      'black film, which nothing here decodes',
      task('expect: { blank: false, silence: { max: 1s } }', 'video'),
      'MB1103 4:31, MB1103 4:45',
      'cannot be measured: mediabatch does not decode videos',
    ],
    [
      'how an Ogg sounds',
      task('expect: { type: audio/ogg, peak: { max: -1 } }', 'music'),
      'MB1103 4:48',
      'cannot be measured: mediabatch decodes only audio/mpeg, audio/wav',
    ],
    [
      'how a FLAC of the defaults sounds',
      `${task('expect: { silence: { max: 1 } }', 'music')}\ndefaults: { music: { output_format: flac } }\n`,
      'MB1103 4:31',
      'cannot be measured: mediabatch decodes only audio/mpeg, audio/wav',
    ],
    [
      'loudness upside down',
      task('expect: { loudness: { lufs: [-13, -16] } }', 'music'),
      'MB1103 4:31',
      'from -13 to -16',
      'write [-16, -13]',
    ],
    [
      'a loudness without its unit',
      task('expect: { loudness: { min: -16 } }', 'music'),
      'MB1102 4:31, MB1101 4:43',
      'as in [-16, -13]',
    ],
    ['blank films wanted', task('expect: { blank: true }'), 'MB1103 4:38', 'false'],
    ['silence in words', task('expect: { silence: { max: short } }', 'music'), 'MB1103 4:47', '1s'],
    ['the size of an upload', task('expect: { bytes: 5 }', 'upload'), 'MB1103 4:22', 'no output file'],
    ['a template', task('expect: { width: "{{vars.w}}" }'), 'MB1202 4:38'],
  ]);
});

describe('foreach, schema and maxItems', () => {
  testShapeMistakes([
    ['parts with no limit', task('foreach: "{{tasks.talk.clips}}"'), 'MB1102 4:30', 'add `maxItems:`', 'from 1 to 100'],
    ['a limit of nothing', task('foreach: "{{tasks.talk.clips}}", maxItems: 0'), 'MB1103 4:64', 'from 1 to 100'],
    ['a limit for a list', task('foreach: [a], maxItems: 3'), 'MB1103 4:35', 'has no effect', '{{tasks.talk.clips}}'],
    ['a limit for no rows', task('maxItems: 3'), 'MB1103 4:21', 'has no effect'],
    ['a part of parts', task('foreach: "{{tasks.talk.clips.0}}", maxItems: 3'), 'MB1202 4:30, MB1103 4:56'],
    [
      'a string around a template',
      task('foreach: "{{vars.folder}}/*.jpg"'),
      'MB1202 4:30',
      'exactly one {{vars.name}}',
    ],
    ['a list in quotes', task('foreach: "[en, de]"'), 'MB1103 4:30', 'remove the quotes: [en, de]'],
    ['single braces', task('foreach: "{vars.list}"'), 'MB1103 4:30', '"{{vars.list}}"'],
    ['a web address', task('foreach: "https://example.com/p.csv"'), 'MB1103 4:30', 'download'],
    ['a Windows path', task('foreach: data\\p.csv'), 'MB1103 4:30', 'data/products.csv'],
    ['a schema for a list', task('foreach: [a], schema: s.json'), 'MB1103 4:35', 'rows of a data file'],
    ['a schema for no rows', task('schema: s.json'), 'MB1103 4:21', 'foreach: products.csv'],
    ['a template as schema', task('foreach: p.csv, schema: "{{vars.s}}"'), 'MB1202 4:45'],
  ]);
});

/** A manifest with one further section in its first line. */
const section = (line: string) => `${line}\n${image('prompt: x')}`;

it('selectors and prices are read as they are written', () => {
  const text = [
    'selectors: { launch: "tag:launch kind:video", a-1_b: hero }',
    'prices:',
    '  video: 30',
    '  image: 0',
    '  image/alpha-pro: 6',
    '  image/alpha-2/resolution=4k: 8',
    '  image/resolution=1k: 2',
    '  music/song-9: 5',
    '  video/some-model/duration=8/prompt~256: 40',
    image('prompt: x'),
  ].join('\n');
  const { manifest, diagnostics } = parse(text);
  expect(diagnostics).toEqual([]);
  expect({ ...manifest?.selectors }).toEqual({ launch: 'tag:launch kind:video', 'a-1_b': 'hero' });
  expect({ ...manifest?.prices }).toEqual({
    video: 30,
    image: 0,
    'image/alpha-pro': 6,
    'image/alpha-2/resolution=4k': 8,
    'image/resolution=1k': 2,
    'music/song-9': 5,
    'video/some-model/duration=8/prompt~256': 40,
  });
});

describe('prices', () => {
  testShapeMistakes([
    ['one number', section('prices: 5'), 'MB1103 1:9', 'prices: { video: 30'],
    ['a kind with a typing mistake', section('prices: { vidoe: 5 }'), 'MB1101 1:11', 'did you mean `video`'],
    ['a kind that every object has', section('prices: { constructor: 5 }'), 'MB1101 1:11'],
    ['the name of a task', section('prices: { hero: 5 }'), 'MB1101 1:11', 'kinds: image'],
    ['a mistake in a model', section('prices: { image/aplha-2: 5 }'), 'MB1101 1:11', 'did you mean `image/alpha-2`'],
    ...[
      'image/aspectRatio=1:1',
      'music/output_format=wav',
      'image/alpha-2/alpha-pro',
      'image/resolution=',
      'image//resolution=4k',
      'upload',
    ].map((name): [string, string, string, string, string] => [
      name,
      section(`prices: { ${name}: 5 }`),
      'MB1101 1:11',
      'is not a price class',
      'image/alpha-2/resolution=4k',
    ]),
    ['half a credit', section('prices: { video: 2.5 }'), 'MB1103 1:18', 'a whole number'],
    ['a typing mistake', section('price: { video: 5 }'), 'MB1101 1:1', 'did you mean `prices`'],
  ]);
});
