import { describe } from 'vitest';
import { oneTaskOf as task, tasks } from './load.ts';
import { testShapeMistakes } from './mistakes.ts';

describe('when', () => {
  testShapeMistakes([
    {
      name: 'the word of another tool',
      text: task('if: "{{row.active}}"'),
      found: ['MB1101 4:21'],
      says: ['did you mean `when`'],
    },
    { name: 'yes', text: task('when: yes'), found: ['MB1103 4:27'], says: ['YAML 1.2', 'write when: true'] },
    { name: 'off', text: task('when: off'), found: ['MB1103 4:27'], says: ['YAML 1.2', 'write when: false'] },
    {
      name: 'a name without braces',
      text: task('when: row.active'),
      found: ['MB1103 4:27'],
      says: ['"{{row.active}}"'],
    },
    { name: 'single braces', text: task('when: "{ row.active }"'), found: ['MB1103 4:27'], says: ['"{{row.active}}"'] },
    { name: 'another text', text: task('when: sometimes'), found: ['MB1103 4:27'], says: ['"{{row.active}}"'] },
    { name: 'an empty text', text: task('when: ""'), found: ['MB1103 4:27'], says: ['write true, false'] },
    { name: 'a number', text: task('when: 1'), found: ['MB1103 4:27'], says: ['"{{row.active}}"'] },
    { name: 'nothing', text: task('when:'), found: ['MB1103 4:21'], says: ['is empty'] },
    {
      name: 'a template without quotes',
      text: task('when: {{row.active}}'),
      found: ['MB1008 4:27'],
      says: ['"{{row.active}}"'],
    },
    {
      name: 'a template without quotes and a text behind it',
      text: tasks('  a:', '    kind: image', '    when: {{row.a}} true'),
      found: ['MB1008 6:11'],
      says: ['"{{row.a}} true"'],
    },
    { name: 'a typing mistake', text: task('wehn: true'), found: ['MB1101 4:21'], says: ['did you mean `when`'] },
  ]);
});

describe('pin', () => {
  testShapeMistakes([
    { name: 'a word', text: task('pin: yes'), found: ['MB1103 4:26'], says: ['true or false'] },
    { name: 'a template', text: task('pin: "{{vars.t}}"'), found: ['MB1202 4:26'], says: ['cannot be a template'] },
  ]);
});

describe('timeout', () => {
  testShapeMistakes([
    { name: 'a number', text: task('timeout: 90'), found: ['MB1103 4:30'], says: ['with its unit', '90s, 30m or 2h'] },
    { name: 'other words', text: task('timeout: 2 hours'), found: ['MB1103 4:30'], says: ['90s, 30m or 2h'] },
    { name: 'days', text: task('timeout: 2d'), found: ['MB1103 4:30'] },
    { name: 'nothing', text: task('timeout: 0s'), found: ['MB1103 4:30'] },
    {
      name: 'a template',
      text: task('timeout: "{{vars.t}}"'),
      found: ['MB1202 4:30'],
      says: ['`timeout` cannot be a template'],
    },
    { name: 'a template without quotes', text: task('timeout: {{vars.t}}'), found: ['MB1008 4:30'] },
    {
      name: 'a tab',
      text: 'version: 1\nname: x\ntasks:\n  a:\n    kind: image\n\ttimeout: 9s\n',
      found: ['MB1003 6:1'],
    },
    { name: 'a typing mistake', text: task('time-out: 9s'), found: ['MB1101 4:21'], says: ['did you mean `timeout`'] },
  ]);
});

describe('retry', () => {
  testShapeMistakes([
    { name: 'a number', text: task('retry: 3'), found: ['MB1103 4:28'], says: ['retry: { attempts: 3 }'] },
    { name: 'a number of repeats', text: task('retry: 1'), found: ['MB1103 4:28'], says: ['retry: { attempts: 2 }'] },
    { name: 'true', text: task('retry: true'), found: ['MB1103 4:28'], says: ['retry: { attempts: 2 }'] },
    { name: 'no attempts', text: task('retry: { credits: 5 }'), found: ['MB1102 4:21'], says: ['add `attempts:`'] },
    { name: 'one attempt', text: task('retry: { attempts: 1 }'), found: ['MB1103 4:40'], says: ['from 2 to 5'] },
    { name: 'six attempts', text: task('retry: { attempts: 6 }'), found: ['MB1103 4:40'], says: ['from 2 to 5'] },
    {
      name: 'half a credit',
      text: task('retry: { attempts: 2, credits: 0.5 }'),
      found: ['MB1103 4:52'],
      says: ['whole'],
    },
    {
      name: 'a typing mistake inside',
      text: task('retry: { atempts: 2 }'),
      found: ['MB1101 4:30'],
      says: ['did you mean `attempts`'],
    },
    {
      name: 'a typing mistake',
      text: task('retries: { attempts: 2 }'),
      found: ['MB1101 4:21'],
      says: ['did you mean `retry`'],
    },
    { name: 'a post', text: task('retry: { attempts: 2 }', 'post'), found: ['MB1103 4:20'], says: ['sent once'] },
  ]);
});

describe('expect', () => {
  testShapeMistakes([
    { name: 'a text', text: task('expect: image/png'), found: ['MB1103 4:29'], says: ['expect: { width'] },
    { name: 'nothing in it', text: task('expect: {}'), found: ['MB1103 4:21'], says: ['is empty'] },
    {
      name: 'a typing mistake',
      text: task('expcet: { width: 5 }'),
      found: ['MB1101 4:21'],
      says: ['did you mean `expect`'],
    },
    {
      name: 'a typing mistake inside',
      text: task('expect: { widht: 5 }'),
      found: ['MB1101 4:31'],
      says: ['did you mean `width`'],
    },
    {
      name: 'a typing mistake in a range',
      text: task('expect: { width: { mni: 5 } }'),
      found: ['MB1101 4:40'],
      says: ['did you mean `min`'],
    },
    { name: 'an empty range', text: task('expect: { width: {} }'), found: ['MB1103 4:31'], says: ['is empty'] },
    { name: 'half a pixel', text: task('expect: { width: 5.5 }'), found: ['MB1103 4:38'], says: ['a whole number'] },
    { name: 'no pixel', text: task('expect: { height: 0 }'), found: ['MB1103 4:39'] },
    {
      name: 'a size in words',
      text: task('expect: { bytes: 2MB }'),
      found: ['MB1103 4:38'],
      says: ['"2MB"', 'a whole number'],
    },
    {
      name: 'a range upside down',
      text: task('expect: { width: { min: 9, max: 5 } }'),
      found: ['MB1103 4:31'],
      says: ['{ min: 5, max: 9 }'],
    },
    { name: 'a ratio with an x', text: task('expect: { ratio: 16x9 }'), found: ['MB1103 4:38'], says: ['"16:9"'] },
    { name: 'a ratio of nothing', text: task('expect: { ratio: "0:1" }'), found: ['MB1103 4:38'] },
    { name: 'an extension', text: task('expect: { type: png }'), found: ['MB1103 4:37'], says: ['image/png'] },
    {
      name: 'a type of other media',
      text: task('expect: { type: audio/mpeg }'),
      found: ['MB1103 4:37'],
      says: ['gives image files'],
    },
    {
      name: 'the length of an image',
      text: task('expect: { duration: 5 }'),
      found: ['MB1103 4:31'],
      says: ['can never be met'],
    },
    {
      name: 'the width of a song',
      text: task('expect: { width: 5 }', 'music'),
      found: ['MB1103 4:31'],
      says: ['can never be met'],
    },
    {
      name: 'the loudness of a picture',
      text: task('expect: { loudness: { lufs: [-16, -13] } }'),
      found: ['MB1103 4:31'],
      says: ['these have no sound'],
    },
    {
      name: 'a song that is not blank',
      text: task('expect: { blank: false }', 'music'),
      found: ['MB1103 4:31'],
      says: ['these have no picture'],
    },
    {
      name: 'black film, which nothing here decodes',
      text: task('expect: { blank: false, silence: { max: 1s } }', 'video'),
      found: ['MB1103 4:31', 'MB1103 4:45'],
      says: ['cannot be measured', 'no decoder of films'],
    },
    {
      name: 'how an Ogg sounds',
      text: task('expect: { type: audio/ogg, peak: { max: -1 } }', 'music'),
      found: ['MB1103 4:48'],
      says: ['cannot be measured of audio/ogg: there is a decoder of audio/mpeg, audio/wav only'],
    },
    {
      name: 'how a FLAC sounds',
      text: task('expect: { silence: { max: 1 } }, with: { output_format: flac }', 'music'),
      found: ['MB1103 4:31'],
      says: ['cannot be measured of audio/flac'],
    },
    {
      name: 'how a FLAC of the defaults sounds',
      text: `${task('expect: { silence: { max: 1 } }', 'music')}\ndefaults: { music: { output_format: flac } }\n`,
      found: ['MB1103 4:31'],
      says: ['cannot be measured of audio/flac'],
    },
    {
      name: 'loudness upside down',
      text: task('expect: { loudness: { lufs: [-13, -16] } }', 'music'),
      found: ['MB1103 4:31'],
      says: ['from -13 to -16', 'write [-16, -13]'],
    },
    {
      name: 'a loudness without its unit',
      text: task('expect: { loudness: { min: -16 } }', 'music'),
      found: ['MB1102 4:31', 'MB1101 4:43'],
      says: ['as in [-16, -13]'],
    },
    { name: 'blank films wanted', text: task('expect: { blank: true }'), found: ['MB1103 4:38'], says: ['false'] },
    {
      name: 'silence in words',
      text: task('expect: { silence: { max: short } }', 'music'),
      found: ['MB1103 4:47'],
      says: ['1s'],
    },
    {
      name: 'the size of an upload',
      text: task('expect: { bytes: 5 }', 'upload'),
      found: ['MB1103 4:22'],
      says: ['no output file'],
    },
    { name: 'a template', text: task('expect: { width: "{{vars.w}}" }'), found: ['MB1202 4:38'] },
  ]);
});

describe('foreach, schema and maxItems', () => {
  testShapeMistakes([
    {
      name: 'parts without a limit',
      text: task('foreach: "{{tasks.talk.clips}}"'),
      found: ['MB1102 4:30'],
      says: ['add `maxItems:`', 'from 1 to 100'],
    },
    { name: 'parts without quotes', text: task('foreach: {{tasks.talk.clips}}, maxItems: 3'), found: ['MB1008 4:30'] },
    {
      name: 'a limit of nothing',
      text: task('foreach: "{{tasks.talk.clips}}", maxItems: 0'),
      found: ['MB1103 4:64'],
      says: ['from 1 to 100'],
    },
    {
      name: 'a limit that is too high',
      text: task('foreach: "{{tasks.talk.clips}}", maxItems: 101'),
      found: ['MB1103 4:64'],
    },
    {
      name: 'a limit for a list',
      text: task('foreach: [a], maxItems: 3'),
      found: ['MB1103 4:35'],
      says: ['limits nothing', '{{tasks.talk.clips}}'],
    },
    { name: 'a limit for no rows', text: task('maxItems: 3'), found: ['MB1103 4:21'], says: ['limits nothing'] },
    {
      name: 'a typing mistake in the limit',
      text: task('foreach: "{{tasks.talk.clips}}", maxitems: 3'),
      found: ['MB1102 4:30', 'MB1101 4:54'],
      says: ['did you mean `maxItems`'],
    },
    {
      name: 'a part of parts',
      text: task('foreach: "{{tasks.talk.clips.0}}", maxItems: 3'),
      found: ['MB1202 4:30', 'MB1103 4:56'],
    },
    {
      name: 'a text around a template',
      text: task('foreach: "{{vars.folder}}/*.jpg"'),
      found: ['MB1202 4:30'],
      says: ['exactly one {{vars.name}}'],
    },
    {
      name: 'a list in quotes',
      text: task('foreach: "[en, de]"'),
      found: ['MB1103 4:30'],
      says: ['take the quotes off: [en, de]'],
    },
    { name: 'single braces', text: task('foreach: "{vars.list}"'), found: ['MB1103 4:30'], says: ['"{{vars.list}}"'] },
    {
      name: 'a web address',
      text: task('foreach: "https://example.com/p.csv"'),
      found: ['MB1103 4:30'],
      says: ['download'],
    },
    {
      name: 'a schema for a list',
      text: task('foreach: [a], schema: s.json'),
      found: ['MB1103 4:35'],
      says: ['rows of a data file'],
    },
    {
      name: 'a schema for no rows',
      text: task('schema: s.json'),
      found: ['MB1103 4:21'],
      says: ['foreach: products.csv'],
    },
    { name: 'a schema for files', text: task('foreach: "*.jpg", schema: s.json'), found: ['MB1103 4:39'] },
    {
      name: 'a schema that is written out',
      text: task('foreach: p.csv, schema: { type: object }'),
      found: ['MB1103 4:37'],
      says: ['the path of a JSON Schema'],
    },
    { name: 'a template as schema', text: task('foreach: p.csv, schema: "{{vars.s}}"'), found: ['MB1202 4:45'] },
    {
      name: 'a typing mistake in the schema',
      text: task('foreach: p.csv, shema: s.json'),
      found: ['MB1101 4:37'],
      says: ['did you mean `schema`'],
    },
  ]);
});
