import { describe, expect, it } from 'vitest';
import { dataFiles, parseManifest } from '../../../src/manifest/parse.ts';
import type { DataFile } from '../../../src/manifest/rows/rows.ts';
import { maxManifestBytes } from '../../../src/manifest/yaml/source.ts';
import { including, oneTask, parse, summarize } from './load.ts';
import { ofIncluded, testShapeMistakes } from './mistakes.ts';

it('tasks of included files come first, in their order, and each knows its folder', () => {
  const { manifest, diagnostics } = parse(including('b/b.yaml, a.yaml', 'tasks: { own: { kind: image } }'), {
    data: {
      'b/b.yaml': 'version: 1\ninclude: [../c/deep/c.yaml]\ntasks: { b2: { kind: image }, b1: { kind: image } }\n',
      'c/deep/c.yaml': 'tasks: { c: { kind: image } }\n',
      'a.yaml': 'x-mine: [1]\ntasks: { a: { kind: image } }\n',
    },
  });
  expect(diagnostics).toEqual([]);
  expect(manifest?.tasks.map(({ id, folder }) => [id, folder])).toEqual([
    ['c', 'c/deep/'],
    ['b2', 'b/'],
    ['b1', 'b/'],
    ['a', ''],
    ['own', ''],
  ]);
});

it('the including file wins over the included one, and a later include over an earlier one', () => {
  const { manifest, diagnostics } = parse(
    including(
      'first.yaml, second.yaml',
      'vars: { own: main }',
      'defaults: { image: { model: alpha-2 } }',
      'selectors: { own: main }',
      'prices: { image: 1 }',
      'tasks: { hero: { kind: image, with: { prompt: p } } }',
    ),
    {
      data: {
        'first.yaml':
          'include: [deep.yaml]\nvars: { own: first, late: first, near: first }\ndefaults: { image: { model: alpha-pro, resolution: 1k } }\nselectors: { own: first, late: first }\nprices: { image: 2, video: 2 }\n',
        'second.yaml':
          'vars: { late: second }\ndefaults: { image: { resolution: 4k, aspectRatio: "1:1" }, music: { model: auto } }\nselectors: { late: second }\nprices: { video: 3 }\n',
        'deep.yaml': 'vars: { own: deep, near: deep, deep: deep }\n',
      },
    },
  );
  expect(diagnostics).toEqual([]);
  expect({ ...manifest?.vars }).toEqual({ own: 'main', late: 'second', near: 'first', deep: 'deep' });
  expect({ ...manifest?.selectors }).toEqual({ own: 'main', late: 'second' });
  expect({ ...manifest?.prices }).toEqual({ image: 1, video: 3 });
  expect({ ...manifest?.defaults.image }).toEqual({ model: 'alpha-2', resolution: '4k', aspectRatio: '1:1' });
  expect({ ...manifest?.defaults.music }).toEqual({ model: 'auto' });
  expect(manifest?.tasks[0]?.with.map(({ field, value }) => [field, value]).sort()).toEqual([
    ['aspectRatio', '1:1'],
    ['model', 'alpha-2'],
    ['prompt', 'p'],
    ['resolution', '4k'],
  ]);
});

it('files are asked for as soon as they are known to be needed, with the place that needs them', () => {
  const text = including('a.yaml, sub/b.yaml');
  const ask = (included: Record<string, string>) => {
    const files = new Map(Object.entries(included).map(([path, file]): [string, DataFile] => [path, { text: file }]));
    const { manifest, includes } = parseManifest({ file: 'launch/campaign.yaml', text }, files);
    return {
      isThere: manifest !== undefined,
      asked: includes.map(({ path, place }) => `${path} ${place.file}:${place.start.line}:${place.start.column}`),
    };
  };
  expect(ask({})).toEqual({
    isThere: false,
    asked: ['a.yaml launch/campaign.yaml:3:11', 'sub/b.yaml launch/campaign.yaml:3:19'],
  });
  const b = `include: [c.yaml]\n${oneTask}`;
  expect(ask({ 'a.yaml': 'vars: {}', 'sub/b.yaml': b })).toEqual({
    isThere: false,
    asked: ['sub/c.yaml launch/sub/b.yaml:1:11'],
  });
  expect(ask({ 'a.yaml': 'vars: {}', 'sub/b.yaml': b, 'sub/c.yaml': 'vars: {}' })).toEqual({
    isThere: true,
    asked: [],
  });
});

it('data files, patterns and schemas are relative to the file in which they are written', () => {
  const rows = '{ kind: image, foreach: ROWS, key: k }';
  const task = (foreach: string, more = '') => rows.replace('ROWS', foreach).replace('key: k', `key: k${more}`);
  const { manifest, diagnostics } = parse(
    including('sub/a.yaml, odd (1)/b.yaml', `tasks: { own: ${task('./p.csv')} }`),
    {
      data: {
        'odd (1)/b.yaml': `tasks: { odd: ${task('"../../*.jpg"')}, even: ${task('"*.jpg"')} }\n`,
        'sub/a.yaml': `tasks:\n  one: ${task('p.csv', ', schema: s.json')}\n  two: ${task('../p.csv')}\n  three: ${task('"photos/*.jpg"')}\n  four: ${task('../../out.csv')}\n  five: ${task('/abs.csv')}\n  six: ${task('p.csv')}\n`,
      },
    },
  );
  expect(diagnostics).toEqual([]);
  expect(
    (manifest === undefined ? [] : dataFiles(manifest)).map(
      ({ path, as, place }) => `${as} ${path} ${place.file}:${place.start.line}`,
    ),
  ).toEqual([
    'text sub/p.csv sub/a.yaml:2',
    'text sub/s.json sub/a.yaml:2',
    'text p.csv sub/a.yaml:3',
    'files sub/photos/*.jpg sub/a.yaml:4',
    'text ../out.csv sub/a.yaml:5',
    'text /abs.csv sub/a.yaml:6',
    'files ../*.jpg odd (1)/b.yaml:1',
    'files odd \\(1\\)/*.jpg odd (1)/b.yaml:1',
    'text ./p.csv campaign.yaml:4',
  ]);
});

it('a default path of a file to upload stays relative to the file that says it', () => {
  const { manifest, diagnostics } = parse(
    including(
      'one/a.yaml, two/b.yaml',
      'tasks: { own: { kind: upload }, other: { kind: upload, with: { file: c.png } } }',
    ),
    {
      data: {
        'one/a.yaml': 'defaults: { upload: { file: "art/{{vars.n}}.png", fileName: x } }\n',
        'two/b.yaml': 'tasks: { two: { kind: upload } }\n',
      },
    },
  );
  expect(diagnostics).toEqual([]);
  expect(manifest?.tasks.map(({ with: fields }) => fields.map(({ value }) => value))).toEqual([
    ['../one/art/{{vars.n}}.png', 'x'],
    ['one/art/{{vars.n}}.png', 'x'],
    ['x', 'c.png'],
  ]);
});

it('places lead into the file that says what counts', () => {
  const { manifest } = parse(including('sub/a.yaml', 'vars: { b: 2 }', 'tasks: { own: { kind: image } }'), {
    file: 'launch/campaign.yaml',
    data: {
      'sub/a.yaml':
        'vars: { a: "{{vars.b}} x", b: 1 }\ndefaults:\n  image: { model: alpha-2 }\ntasks:\n  one: { kind: image }\n',
    },
  });
  const places = manifest?.places;
  const at = (place: { file: string; start: { line: number; column: number } } | undefined) =>
    `${place?.file}:${place?.start.line}:${place?.start.column}`;
  expect(at(places?.key(['tasks', 'one']))).toBe('launch/sub/a.yaml:5:3');
  expect(at(places?.value(['tasks', 'one', 'kind']))).toBe('launch/sub/a.yaml:5:16');
  expect(at(places?.key(['tasks', 'own']))).toBe('launch/campaign.yaml:5:10');
  expect(at(places?.value(['vars', 'a']))).toBe('launch/sub/a.yaml:1:12');
  expect(at(places?.within(['vars', 'a'], { text: '{{vars.b}} x', start: 2, end: 8 }))).toBe('launch/sub/a.yaml:1:15');
  expect(at(places?.value(['vars', 'b']))).toBe('launch/campaign.yaml:4:12');
  expect(at(places?.value(['defaults', 'image', 'model']))).toBe('launch/sub/a.yaml:3:19');
  expect(at(places?.key(['vars']))).toBe('launch/campaign.yaml:4:1');
  expect(at(places?.value(['name']))).toBe('launch/campaign.yaml:2:7');
});

describe('include mistakes', () => {
  testShapeMistakes([
    ['one path, no list', 'version: 1\nname: x\ninclude: a.yaml\n', 'MB1103 3:10', 'include: [shared/brand.yaml]'],
    ['an entry that is no path', including('5'), 'MB1103 3:11', 'the path of a yaml file'],
    ['a template', including('"{{vars.x}}.yaml"'), 'MB1202 3:11', 'cannot be a template'],
    ...[
      '"https://example.com/a.yaml"',
      '/etc/a.yaml',
      "'C:\\a.yaml'",
      '"~/a.yaml"',
      "'shared\\a.yaml'",
      '"shared/*.yaml"',
      'shared/',
      'p.csv',
    ].map((path): [string, string, string, string] => [
      path,
      including(path),
      'MB1010 3:11',
      'is not the relative path of a YAML file',
    ]),
    ['a file outside', including('shared/../../a.yaml'), 'MB1010 3:11', 'outside the folder'],
    ofIncluded(
      'a folder that is named like a file',
      { problem: 'not-a-file', detail: 'it is a folder' },
      'MB1010 3:11',
      'a.yaml is not a regular file (it is a folder)',
    ),
    ['a file that is missing', including('a.yaml'), 'MB1010 3:11', 'a.yaml does not exist'],
    ofIncluded('a link that leads out', { problem: 'outside' }, 'MB1010 3:11'),
    ofIncluded('a file that nobody may read', { problem: 'unreadable' }, 'MB1010 3:11'),
    ofIncluded('a file that is too large for the reader', { problem: 'too-large' }, 'MB1010 3:11'),
    ofIncluded('a file that is larger than a manifest', `#${'x'.repeat(maxManifestBytes)}`, 'MB1007 a.yaml:1:1'),
    ofIncluded('a list', '- a\n', 'MB1103 a.yaml:1:1', 'the manifest is a list'),
    ofIncluded('no YAML', 'tasks:\n\ta: x\n', 'MB1003 a.yaml:2:1'),
    ofIncluded(
      'what only the main manifest can say',
      `version: 1\nname: x\nbudget: { credits: -1 }\nservice: {}\ndescription: x\n${oneTask}`,
      'MB1101 a.yaml:2:1, MB1101 a.yaml:3:1, MB1101 a.yaml:4:1, MB1101 a.yaml:5:1',
      '`name` is not allowed in an included manifest',
      'move the key into campaign.yaml',
    ),
    ofIncluded('a later version', `version: 2\n${oneTask}`, 'MB1105 a.yaml:1:10'),
    ofIncluded(
      'mistakes inside of it',
      'tasks:\n  a: { kind: imag, whit: x, when: yes }\nprices: { x: 1 }\n',
      'MB1103 a.yaml:2:14, MB1101 a.yaml:2:20, MB1103 a.yaml:2:35, MB1101 a.yaml:3:11',
    ),
    ofIncluded(
      'a comment that cuts a prompt',
      'tasks:\n  a:\n    kind: image\n    with:\n      prompt: a # 1\n',
      'MB1009 a.yaml:5:17 warning',
    ),
    ofIncluded('no tasks anywhere', 'vars: { a: 1 }\n', 'MB1102 3:1', 'neither has any file that it includes'),
  ]);

  it('a circle is reported with each of its files', () => {
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
  });

  it('a task in two files is reported with both places', () => {
    const { manifest, diagnostics } = parse(including('sub/a.yaml', oneTask), {
      data: { 'sub/a.yaml': 'tasks:\n  hero: { kind: music }\n' },
    });
    expect(
      diagnostics.map((one) => [summarize(one), one.message, one.related?.map(({ place }) => place)]),
    ).toMatchObject([
      [
        'MB1004 campaign.yaml:4:10',
        'the task `hero` is in two files, first in sub/a.yaml on line 2',
        [{ file: 'sub/a.yaml', start: { line: 2, column: 3 } }],
      ],
    ]);
    expect(manifest?.sound).toBe(false);
  });

  it('what an unreadable file would have defined is not reported as missing', () => {
    const { manifest, diagnostics } = parse(
      including(
        'a.yaml, b.yaml',
        'tasks: { x: { kind: image, needs: [hero], with: { prompt: "{{vars.p}}" }, wen: 1 } }',
      ),
      { data: { 'b.yaml': 'vars: [' } },
    );
    expect(manifest).toBeUndefined();
    expect(diagnostics.map(summarize)).toEqual([
      'MB1003 b.yaml:1:7',
      'MB1010 campaign.yaml:3:11',
      'MB1101 campaign.yaml:4:75',
    ]);
  });
});
