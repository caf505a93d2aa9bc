import { expect, it } from 'vitest';
import { maxManifestBytes } from '../../../src/manifest/yaml/source.ts';
import { including, oneTask, parse, summarize } from './load.ts';
import { testShapeMistakes } from './mistakes.ts';

testShapeMistakes([
  ['one path that is no list', 'version: 1\nname: x\ninclude: a.yaml\n', 'MB1103 3:10', 'include: [shared/brand.yaml]'],
  ['an entry that is no path', including('5'), 'MB1103 3:11', 'the path of a yaml file'],
  ['an empty entry', including('" "'), 'MB1103 3:11'],
  [
    'a typing mistake',
    'version: 1\nname: x\ninclud: [a.yaml]\ntasks: {a: {kind: image}}\n',
    'MB1101 3:1',
    'did you mean `include`',
  ],
  [
    'the word of another tool',
    'version: 1\nname: x\nimport: [a.yaml]\ntasks: {a: {kind: image}}\n',
    'MB1101 3:1',
    'did you mean `include`',
  ],
  ['a template', including('"{{vars.x}}.yaml"'), 'MB1202 3:11', 'cannot be a template'],
  ['a template without quotes', including('{{vars.x}}'), 'MB1008 3:11'],
  {
    name: 'a web address',
    text: including('"https://example.com/a.yaml"'),
    found: ['MB1010 3:11'],
    says: ['is a web address', 'download it'],
  },
  ['an absolute path', including('/etc/a.yaml'), 'MB1010 3:11', 'not a relative path'],
  ['a drive', including("'C:\\a.yaml'"), 'MB1010 3:11', 'not a relative path'],
  ['a home folder', including('"~/a.yaml"'), 'MB1010 3:11'],
  ['a backslash', including("'shared\\a.yaml'"), 'MB1010 3:11', 'shared/a.yaml'],
  ['a pattern', including('"shared/*.yaml"'), 'MB1010 3:11', 'is a pattern'],
  ['a file outside', including('shared/../../a.yaml'), 'MB1010 3:11', 'outside the folder'],
  ['a folder', including('shared/'), 'MB1010 3:11', 'ends in .yaml'],
  {
    name: 'a folder that is named like a file',
    text: including('a.yaml'),
    data: { 'a.yaml': { problem: 'not-a-file', detail: 'it is a folder' } },
    found: ['MB1010 3:11'],
    says: ['a.yaml is not a regular file (it is a folder)'],
  },
  ['a data file', including('p.csv'), 'MB1010 3:11', 'not the path of a yaml file'],
  ['a file that is missing', including('a.yaml'), 'MB1010 3:11', 'a.yaml does not exist'],
  {
    name: 'a link that leads out',
    text: including('a.yaml'),
    data: { 'a.yaml': { problem: 'outside' } },
    found: ['MB1010 3:11'],
  },
  {
    name: 'a file that nobody may read',
    text: including('a.yaml'),
    data: { 'a.yaml': { problem: 'unreadable' } },
    found: ['MB1010 3:11'],
  },
  {
    name: 'a file that is too large for the reader',
    text: including('a.yaml'),
    data: { 'a.yaml': { problem: 'too-large' } },
    found: ['MB1010 3:11'],
  },
  {
    name: 'a file that is larger than a manifest',
    text: including('a.yaml'),
    data: { 'a.yaml': `#${'x'.repeat(maxManifestBytes)}` },
    found: ['MB1007 a.yaml:1:1'],
  },
  {
    name: 'a list',
    text: including('a.yaml'),
    data: { 'a.yaml': '- a\n' },
    found: ['MB1103 a.yaml:1:1'],
    says: ['the manifest is a list'],
  },
  { name: 'no YAML', text: including('a.yaml'), data: { 'a.yaml': 'tasks:\n\ta: x\n' }, found: ['MB1003 a.yaml:2:1'] },
  {
    name: 'what only the main manifest can say',
    text: including('a.yaml'),
    data: { 'a.yaml': `version: 1\nname: x\nbudget: { credits: -1 }\nservice: {}\ndescription: x\n${oneTask}` },
    found: ['MB1101 a.yaml:2:1', 'MB1101 a.yaml:3:1', 'MB1101 a.yaml:4:1', 'MB1101 a.yaml:5:1'],
    says: ['`name` is not allowed in an included manifest', 'move it into campaign.yaml'],
  },
  {
    name: 'a later version',
    text: including('a.yaml'),
    data: { 'a.yaml': `version: 2\n${oneTask}` },
    found: ['MB1105 a.yaml:1:10'],
  },
  {
    name: 'mistakes inside of it',
    text: including('a.yaml'),
    data: { 'a.yaml': 'tasks:\n  a: { kind: imag, whit: x, when: yes }\nprices: { x: 1 }\n' },
    found: ['MB1103 a.yaml:2:14', 'MB1101 a.yaml:2:20', 'MB1103 a.yaml:2:35', 'MB1101 a.yaml:3:11'],
  },
  {
    name: 'a comment that cuts a prompt',
    text: including('a.yaml'),
    data: { 'a.yaml': 'tasks:\n  a:\n    kind: image\n    with:\n      prompt: a # 1\n' },
    found: ['MB1009 a.yaml:5:17 warning'],
  },
  {
    name: 'no tasks anywhere',
    text: including('a.yaml'),
    data: { 'a.yaml': 'vars: { a: 1 }\n' },
    found: ['MB1102 3:1'],
    says: ['neither has any file that it includes'],
  },
]);

it('a circle is told with each of its edges', () => {
  const { diagnostics } = parse(including('a.yaml', oneTask), {
    file: 'launch/campaign.yaml',
    data: { 'a.yaml': 'include: [sub/b.yaml]\n', 'sub/b.yaml': 'include: [../a.yaml, ../campaign.yaml]\n' },
  });
  expect(diagnostics.map((one) => [summarize(one), one.message])).toEqual([
    [
      'MB1404 launch/sub/b.yaml:1:11',
      'manifests include each other in a circle: launch/a.yaml → launch/sub/b.yaml → launch/a.yaml',
    ],
    [
      'MB1404 launch/sub/b.yaml:1:22',
      'manifests include each other in a circle: launch/campaign.yaml → launch/a.yaml → launch/sub/b.yaml → launch/campaign.yaml',
    ],
  ]);
  expect(
    diagnostics.map(({ related }) =>
      related?.map(({ message, place }) => `${place.file}:${place.start.line} ${message}`),
    ),
  ).toEqual([
    ['launch/a.yaml:1 launch/a.yaml includes launch/sub/b.yaml'],
    [
      'launch/campaign.yaml:3 launch/campaign.yaml includes launch/a.yaml',
      'launch/a.yaml:1 launch/a.yaml includes launch/sub/b.yaml',
    ],
  ]);
});

it('a task in two files is told with both places', () => {
  const { manifest, diagnostics } = parse(including('sub/a.yaml', oneTask), {
    data: { 'sub/a.yaml': 'tasks:\n  hero: { kind: music }\n' },
  });
  expect(diagnostics.map((one) => [summarize(one), one.message, one.related?.map(({ place }) => place)])).toMatchObject(
    [
      [
        'MB1004 campaign.yaml:4:10',
        'the task `hero` stands in two files, first in sub/a.yaml on line 2',
        [{ file: 'sub/a.yaml', start: { line: 2, column: 3 } }],
      ],
    ],
  );
  expect(manifest?.sound).toBe(false);
});

it('what a file that cannot be read would have said is not told as missing', () => {
  const { manifest, diagnostics } = parse(
    including('a.yaml, b.yaml', 'tasks: { x: { kind: image, needs: [hero], with: { prompt: "{{vars.p}}" }, wen: 1 } }'),
    { data: { 'b.yaml': 'vars: [' } },
  );
  expect(manifest).toBeUndefined();
  expect(diagnostics.map(summarize)).toEqual([
    'MB1003 b.yaml:1:7',
    'MB1010 campaign.yaml:3:11',
    'MB1101 campaign.yaml:4:75',
  ]);
});
