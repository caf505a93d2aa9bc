import { describe } from 'vitest';
import { oneTaskOf as task, tasks } from './load.ts';
import { testShapeMistakes } from './mistakes.ts';

describe('when', () => {
  testShapeMistakes([
    ['the word of another tool', task('if: "{{row.active}}"'), 'MB1101 4:21', 'did you mean `when`'],
    ['yes', task('when: yes'), 'MB1103 4:27', 'YAML 1.2', 'write when: true'],
    ['off', task('when: off'), 'MB1103 4:27', 'YAML 1.2', 'write when: false'],
    ['a name without braces', task('when: row.active'), 'MB1103 4:27', '"{{row.active}}"'],
    ['single braces', task('when: "{ row.active }"'), 'MB1103 4:27', '"{{row.active}}"'],
    ['another text', task('when: sometimes'), 'MB1103 4:27', '"{{row.active}}"'],
    ['an empty text', task('when: ""'), 'MB1103 4:27', 'write true, false'],
    ['a number', task('when: 1'), 'MB1103 4:27', '"{{row.active}}"'],
    ['nothing', task('when:'), 'MB1103 4:21', 'is empty'],
    ['a template without quotes', task('when: {{row.active}}'), 'MB1008 4:27', '"{{row.active}}"'],
    [
      'a template without quotes and a text behind it',
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
    ['other words', task('timeout: 2 hours'), 'MB1103 4:30', '90s, 30m or 2h'],
    ['days', task('timeout: 2d'), 'MB1103 4:30'],
    ['nothing', task('timeout: 0s'), 'MB1103 4:30'],
    ['a template', task('timeout: "{{vars.t}}"'), 'MB1202 4:30', '`timeout` cannot be a template'],
    ['a template without quotes', task('timeout: {{vars.t}}'), 'MB1008 4:30'],
    ['a tab', 'version: 1\nname: x\ntasks:\n  a:\n    kind: image\n\ttimeout: 9s\n', 'MB1003 6:1'],
    ['a typing mistake', task('time-out: 9s'), 'MB1101 4:21', 'did you mean `timeout`'],
  ]);
});

describe('retry', () => {
  testShapeMistakes([
    ['a number', task('retry: 3'), 'MB1103 4:28', 'retry: { attempts: 3 }'],
    ['a number of repeats', task('retry: 1'), 'MB1103 4:28', 'retry: { attempts: 2 }'],
    ['true', task('retry: true'), 'MB1103 4:28', 'retry: { attempts: 2 }'],
    ['no attempts', task('retry: { credits: 5 }'), 'MB1102 4:21', 'add `attempts:`'],
    ['one attempt', task('retry: { attempts: 1 }'), 'MB1103 4:40', 'from 2 to 5'],
    ['six attempts', task('retry: { attempts: 6 }'), 'MB1103 4:40', 'from 2 to 5'],
    ['half a credit', task('retry: { attempts: 2, credits: 0.5 }'), 'MB1103 4:52', 'whole'],
    ['a typing mistake inside', task('retry: { atempts: 2 }'), 'MB1101 4:30', 'did you mean `attempts`'],
    ['a typing mistake', task('retries: { attempts: 2 }'), 'MB1101 4:21', 'did you mean `retry`'],
    ['a post', task('retry: { attempts: 2 }', 'post'), 'MB1103 4:20', 'sent once'],
  ]);
});

describe('expect', () => {
  testShapeMistakes([
    ['a text', task('expect: image/png'), 'MB1103 4:29', 'expect: { width'],
    ['nothing in it', task('expect: {}'), 'MB1103 4:21', 'is empty'],
    ['a typing mistake', task('expcet: { width: 5 }'), 'MB1101 4:21', 'did you mean `expect`'],
    ['a typing mistake inside', task('expect: { widht: 5 }'), 'MB1101 4:31', 'did you mean `width`'],
    ['a typing mistake in a range', task('expect: { width: { mni: 5 } }'), 'MB1101 4:40', 'did you mean `min`'],
    ['an empty range', task('expect: { width: {} }'), 'MB1103 4:31', 'is empty'],
    ['half a pixel', task('expect: { width: 5.5 }'), 'MB1103 4:38', 'a whole number'],
    ['no pixel', task('expect: { height: 0 }'), 'MB1103 4:39'],
    ['a size in words', task('expect: { bytes: 2MB }'), 'MB1103 4:38', '"2MB"', 'a whole number'],
    ['a range upside down', task('expect: { width: { min: 9, max: 5 } }'), 'MB1103 4:31', '{ min: 5, max: 9 }'],
    ['a ratio with an x', task('expect: { ratio: 16x9 }'), 'MB1103 4:38', '"16:9"'],
    ['a ratio of nothing', task('expect: { ratio: "0:1" }'), 'MB1103 4:38'],
    ['an extension', task('expect: { type: png }'), 'MB1103 4:37', 'image/png'],
    ['a type of other media', task('expect: { type: audio/mpeg }'), 'MB1103 4:37', 'gives image files'],
    ['the length of an image', task('expect: { duration: 5 }'), 'MB1103 4:31', 'can never be met'],
    ['the width of a song', task('expect: { width: 5 }', 'music'), 'MB1103 4:31', 'can never be met'],
    [
      'the loudness of a picture',
      task('expect: { loudness: { lufs: [-16, -13] } }'),
      'MB1103 4:31',
      'these have no sound',
    ],
    ['a song that is not blank', task('expect: { blank: false }', 'music'), 'MB1103 4:31', 'these have no picture'],
    [
      'black film, which nothing here decodes',
      task('expect: { blank: false, silence: { max: 1s } }', 'video'),
      'MB1103 4:31, MB1103 4:45',
      'cannot be measured',
      'no decoder of films',
    ],
    [
      'how an Ogg sounds',
      task('expect: { type: audio/ogg, peak: { max: -1 } }', 'music'),
      'MB1103 4:48',
      'cannot be measured of audio/ogg: there is a decoder of audio/mpeg, audio/wav only',
    ],
    [
      'how a FLAC sounds',
      task('expect: { silence: { max: 1 } }, with: { output_format: flac }', 'music'),
      'MB1103 4:31',
      'cannot be measured of audio/flac',
    ],
    [
      'how a FLAC of the defaults sounds',
      `${task('expect: { silence: { max: 1 } }', 'music')}\ndefaults: { music: { output_format: flac } }\n`,
      'MB1103 4:31',
      'cannot be measured of audio/flac',
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
    [
      'parts without a limit',
      task('foreach: "{{tasks.talk.clips}}"'),
      'MB1102 4:30',
      'add `maxItems:`',
      'from 1 to 100',
    ],
    ['parts without quotes', task('foreach: {{tasks.talk.clips}}, maxItems: 3'), 'MB1008 4:30'],
    ['a limit of nothing', task('foreach: "{{tasks.talk.clips}}", maxItems: 0'), 'MB1103 4:64', 'from 1 to 100'],
    ['a limit that is too high', task('foreach: "{{tasks.talk.clips}}", maxItems: 101'), 'MB1103 4:64'],
    ['a limit for a list', task('foreach: [a], maxItems: 3'), 'MB1103 4:35', 'has no effect', '{{tasks.talk.clips}}'],
    ['a limit for no rows', task('maxItems: 3'), 'MB1103 4:21', 'has no effect'],
    [
      'a typing mistake in the limit',
      task('foreach: "{{tasks.talk.clips}}", maxitems: 3'),
      'MB1102 4:30, MB1101 4:54',
      'did you mean `maxItems`',
    ],
    ['a part of parts', task('foreach: "{{tasks.talk.clips.0}}", maxItems: 3'), 'MB1202 4:30, MB1103 4:56'],
    ['a text around a template', task('foreach: "{{vars.folder}}/*.jpg"'), 'MB1202 4:30', 'exactly one {{vars.name}}'],
    ['a list in quotes', task('foreach: "[en, de]"'), 'MB1103 4:30', 'remove the quotes: [en, de]'],
    ['single braces', task('foreach: "{vars.list}"'), 'MB1103 4:30', '"{{vars.list}}"'],
    {
      name: 'a web address',
      text: task('foreach: "https://example.com/p.csv"'),
      found: ['MB1103 4:30'],
      says: ['download'],
    },
    ['a schema for a list', task('foreach: [a], schema: s.json'), 'MB1103 4:35', 'rows of a data file'],
    ['a schema for no rows', task('schema: s.json'), 'MB1103 4:21', 'foreach: products.csv'],
    ['a schema for files', task('foreach: "*.jpg", schema: s.json'), 'MB1103 4:39'],
    [
      'a schema that is written out',
      task('foreach: p.csv, schema: { type: object }'),
      'MB1103 4:37',
      'the path of a JSON Schema',
    ],
    ['a template as schema', task('foreach: p.csv, schema: "{{vars.s}}"'), 'MB1202 4:45'],
    ['a typing mistake in the schema', task('foreach: p.csv, shema: s.json'), 'MB1101 4:37', 'did you mean `schema`'],
  ]);
});
