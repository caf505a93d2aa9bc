import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadManifest } from '../../../src/campaign/load-manifest.ts';
import { parseManifest } from '../../../src/manifest/parse.ts';
import { maxManifestBytes } from '../../../src/manifest/yaml/source.ts';
import { diagnosticsText } from '../../../src/report/diagnostics/diagnostics-text.ts';
import { makeStyle } from '../../../src/report/style.ts';
import { makeFolder } from '../../rig/folder.ts';
import { image, load, summarize, tasks } from './load.ts';
import { testMistakes } from './mistakes.ts';

describe('yaml', () => {
  testMistakes([
    ['an empty file', '', 'MB1102 1:1', 'is empty', 'init'],
    ['comments only', '# nothing\n\n# here\n', 'MB1102 1:1'],
    ['a start marker only', '---\n', 'MB1102 1:1'],
    [
      'a task twice',
      tasks('  a: { kind: image, with: { prompt: x } }', '  a: { kind: image, with: { prompt: y } }'),
      'MB1004 5:3',
      'twice',
      'line 4',
    ],
    ['tasks twice', `${image('prompt: x')}tasks: {}\n`, 'MB1004 8:1', 'first on line 3'],
    ['a tab', 'version: 1\nname: x\ntasks:\n\ta:\n', 'MB1003 4:1', 'use spaces'],
    ['two documents', `${image('prompt: x')}---\nversion: 1\n`, 'MB1003 8:1', 'only one document'],
    [
      'aliases of aliases',
      `version: 1\nname: x\nx-0: &x0 [1,1,1,1,1,1,1,1,1,1]\n${Array.from({ length: 10 }, (_, level) => `x-${level + 1}: &x${level + 1} [${Array(10).fill(`*x${level}`).join(',')}]\n`).join('')}tasks: { a: { kind: image, with: { prompt: x } } }\n`,
      'MB1007 7:39',
      '100,000',
    ],
    ['a template without quotes', image('prompt: {{name}}'), 'MB1008 7:15', 'map', 'quote the template'],
    [
      'a template without quotes and a string behind it',
      image('prompt: {{vars.x}} on a table'),
      'MB1008 7:15',
      '"{{vars.x}} on a table"',
    ],
    ['a template without quotes in a list', image('prompt: x', 'referenceImages:', '  - {{vars.x}}'), 'MB1008 9:11'],
    ['a prompt cut by a comment', image('prompt: A cat # 1'), 'MB1009 7:21 warning', 'starts a comment', 'quotes'],
    ['a prompt that begins with an anchor', image('prompt: &Sons furniture'), 'MB1009 7:15 warning', '`&Sons`'],
    ['a var cut by a comment', `vars:\n  a: Lamp #1\n${image('prompt: x')}`, 'MB1009 2:11 warning'],
    ['an anchor that is used, and a comment after it', `vars:\n  a: &x Lamp # b\n  b: *x\n${image('prompt: x')}`, ''],
    ['a comment behind an enumerated field', image('prompt: "A cat" # 1', 'model: alpha-2 # default'), ''],
    ['a merge conflict', `<<<<<<< HEAD\n${image('prompt: x')}=======\n>>>>>>> other\n`, 'MB1003 1:1', 'merge conflict'],
    ['a missing quote', image('prompt: "x'), 'MB1003 7:15', 'this quote is not closed'],
    [
      'a missing quote in a flow map',
      tasks('  a:', '    kind: image', '    with: { prompt: "a }', '  b:', '    kind: image'),
      'MB1003 6:21',
      'this quote is not closed',
    ],
    ['a missing quote above others', image('prompt: "a', 'model: "alpha-2"').replaceAll('\n', '\r\n'), 'MB1003 7:15'],
    ['a missing single quote', image("prompt: 'it''s", 'model: x'), 'MB1003 7:15', "the closing '"],
    [
      'a missing brace',
      tasks('  a: { kind: image, with: { prompt: x }', '  b: { kind: image, with: { prompt: "x" } }'),
      'MB1003 4:6',
      'this bracket is not closed',
      'the closing }',
    ],
    ['a missing bracket in braces', tasks('  a: { kind: image, foreach: [a, b }'), 'MB1003 4:30', 'the closing ]'],
    [
      'quotes in a block text before a missing bracket',
      image('prompt: |', '  "no quote', "  don't", 'referenceImages: [a'),
      'MB1003 10:24',
    ],
    [
      'a line that is indented too deep',
      tasks('  a:', '    kind: image', '      with:', '        prompt: x'),
      'MB1003 5:11',
      'a second `: `, on its line or on a deeper one below',
    ],
    ['a second colon', image('prompt: Aurora Lamp: the best'), 'MB1003 7:15', 'a second `: `', 'quote'],
    ['curly quotes', image('prompt: “Lamp: the best”'), 'MB1003 7:15', 'curly quotes', 'straight'],
    ['curly quotes in a flow map', tasks('  a: { kind: image, with: { prompt: “a, b” } }'), 'MB1501 4:41', 'straight'],
    ['an empty key', image('prompt: x', ': y'), 'MB1003 8:7', 'a name before the `:`'],
    ['an alias without anchor', image('prompt: *x'), 'MB1003 7:15', '&x'],
    ['a tag', image('prompt: !!binary aGk='), 'MB1003 7:24', '!!binary'],
    ['a number that is no JSON', image('prompt: .inf'), 'MB1003 7:15'],
    ['YAML 1.1', `%YAML 1.1\n---\n${image('prompt: x')}`, 'MB1003 1:1'],
  ]);
});

/** `▸` stands before what must be pointed at, `◂` behind it; both are taken out of the text. */
const cases: [name: string, text: string][] = [
  ['double quotes', image('prompt: "a {{▸vars.x◂}} b"')],
  ['double quotes with escapes before', image('prompt: "a \\"q\\" \\t {{▸vars.x◂}} b"')],
  ['double quotes with escapes inside', image('prompt: "{{replace ▸vars.x◂ \\"a\\" \\"b\\"}}"')],
  ['double quotes over two lines', image('prompt: "a', '  and {{▸vars.x◂}} b"')],
  ['single quotes', image("prompt: 'it''s {{▸vars.x◂}}'")],
  ['single quotes inside', image("prompt: '{{default ▸vars.x◂ \"it''s\"}} b'")],
  ['a plain string', image('prompt: a {{▸vars.x◂}} b')],
  ['a plain string over two lines', image('prompt: a', '  b {{▸vars.x◂}} c')],
  ['a literal block', image('prompt: |', '  one', '', '  two {{▸vars.x◂}}')],
  ['a folded block', image('prompt: >-', '  one', '  two {{▸vars.x◂}}', '  three')],
  ['the second of two equal templates', image('prompt: "{{#if 1}}{{▸vars.x◂}}{{/if}} {{▸vars.x◂}}"')],
  ['a helper in a helper', image('prompt: "{{upper (lower ▸vars.x◂)}}"')],
  ['trimmed white space', image('prompt: "a {{~ ▸vars.x◂ ~}} b"')],
  ['a list', image('prompt: a', 'referenceImages: ["https://example.com/a.png", "{{▸vars.x◂}}"]')],
  ['a flow map', tasks('  hero: { kind: image, with: { prompt: "{{▸vars.x◂}}" } }')],
  ['defaults', `defaults: { image: { prompt: "{{▸vars.x◂}}" } }\n${tasks('  hero: { kind: image }')}`],
  ['an anchor', `x-p: &p "a {{▸vars.x◂}}"\n${image('prompt: *p')}`],
  ['a merge key', `x-w: &w { prompt: "a {{▸vars.x◂}}" }\n${image('<<: *w', 'model: alpha-2')}`],
  ['Windows line ends', image('prompt: |', '  one', '  two {{▸vars.x◂}}').replaceAll('\n', '\r\n')],
  ['line ends of old systems', image('prompt: |', '  one', '  two {{▸vars.x◂}}').replaceAll('\n', '\r')],
  ['a byte order mark', `\ufeff${image('prompt: "{{▸vars.x◂}}"')}`],
  ['letters beyond the basic plane', image('prompt: "🎈🎈 {{▸vars.x◂}}"')],
  ['an escaped mustache before', image("prompt: '\\{{vars.x}} {{▸vars.x◂}}'")],
];

it.each(cases)('points into %s', (_, marked) => {
  const expected: [number, number][] = [];
  let text = '';
  let start = 0;
  for (const character of marked) {
    if (character === '▸') start = text.length;
    else if (character === '◂') expected.push([start, text.length]);
    else text += character;
  }
  const { diagnostics } = load(text);
  expect(diagnostics.map((one) => one.code)).toEqual(expected.map(() => 'MB1203'));
  expect(diagnostics.map((one) => [one.place?.start.offset, one.place?.end.offset])).toEqual(expected);
});

it('points at the rows of a data file as well', () => {
  const text = tasks(
    '  hero:',
    '    kind: image',
    '    foreach: data/p.csv',
    '    key: "{{row.sku}}"',
    '    with: { prompt: "{{row.name}}", aspectRatio: "{{row.ratio}}" }',
  );
  const csv = 'sku,name,ratio\r\nA,"two\r\nlines",1:1\r\n\r\nB,"x,\r\ny",7:3\r\n';
  const { diagnostics } = load(text, { data: { 'data/p.csv': csv }, file: 'launch/campaign.yaml' });
  expect(diagnostics).toMatchObject([
    {
      code: 'MB1503',
      place: { file: 'launch/campaign.yaml', start: { line: 8, column: 50 } },
      related: [
        { message: 'row 2 of data/p.csv', place: { file: 'launch/data/p.csv', start: { line: 6, column: 4 } } },
      ],
      trail: ['task hero', 'row 2 of data/p.csv'],
    },
  ]);
});

it.each([
  ['p.json', '[\n  {"sku": "A", "r": "1:1"},\n  {"sku": "B", "r": "x"}\n]\n', 3, 3],
  ['p.jsonl', '{"sku": "A", "r": "1:1"}\n\n{"sku": "B", "r": "x"}\n', 3, 1],
  ['p.yaml', '# rows\n- sku: A\n  r: "1:1"\n- sku: B\n  r: x\n', 4, 3],
  ['p.yml', '- { sku: A, r: "1:1" }\n- { sku: B, r: x }\n', 2, 3],
])('knows the lines of %s', (file, text, line, column) => {
  const manifest = tasks(
    '  hero:',
    '    kind: image',
    `    foreach: ${file}`,
    '    key: "{{row.sku}}"',
    '    with: { prompt: x, aspectRatio: "{{row.r}}" }',
  );
  const { diagnostics } = load(manifest, { data: { [file]: text } });
  expect(diagnostics[0]?.related?.[0]?.place).toMatchObject({ file, start: { line, column } });
});

const campaign = (head: string) =>
  `version: 1\n${head}\nname: spring\ntasks: { hero: { kind: image, with: { prompt: A lamp } } }\n`;

function read(text: string, { brand, program = '0.1.0' }: { brand?: string; program?: string } = {}) {
  const included = new Map(brand === undefined ? [] : [['brand.yaml', { text: brand }]]);
  const { manifest, diagnostics } = parseManifest({ file: 'campaign.yaml', text }, included, program);
  const said = diagnostics.map(({ code, message, hint }) => `${code} ${message}; ${String(hint)}`);
  return { said, isRead: manifest !== undefined };
}

test('a version that fits reads a manifest as if nothing were required', () => {
  expect(read(campaign('requires: ">=0.1"'))).toEqual({ said: [], isRead: true });
});

test('a version that does not fit says which it is and what to install, and nothing of keys that another may know', () => {
  const text = campaign('requires: ">=0.3 <2"\nlater: { key: 1 }');
  expect(read(text)).toEqual({
    said: [
      'MB1105 campaign.yaml requires mediabatch >=0.3 <2, and this is mediabatch 0.1.0; install a matching version: npm install --save-dev "mediabatch@>=0.3 <2"',
    ],
    isRead: false,
  });
});

test('an included file requires a version, too', () => {
  const { said, isRead } = read(campaign('include: [brand.yaml]'), { brand: 'requires: "^0.2"\nlater: 1\n' });
  expect(said).toEqual([
    'MB1105 brand.yaml requires mediabatch ^0.2, and this is mediabatch 0.1.0; install a matching version: npm install --save-dev "mediabatch@^0.2"',
  ]);
  expect(isRead).toBe(false);
});

test.each(['"0.3"', '0.3', '">=0.3 or so"', '""', '["^1"]'])('requires: %s is no range', (written) => {
  expect(read(campaign(`requires: ${written}`)).said).toEqual([
    expect.stringMatching(/^MB1103 `requires` is .*; it must be a range of versions in quotes, as in ">=0.3"/),
  ]);
});

test('the schema takes what the reader takes', () => {
  for (const range of ['>=0.1', '<2', '^0.1.0', ' >=0.1  <2 ']) {
    expect(read(campaign(`requires: "${range}"`)).said).toEqual([]);
  }
});

describe('load files', () => {
  /** A folder with these files; the path of its campaign. */
  async function campaign(files: Record<string, string>): Promise<string> {
    const folder = makeFolder();
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return join(folder, 'campaign.yaml');
  }

  const start = 'version: 1\nname: test\n';

  it('included files, data files, patterns and uploads are read from where they are named', async () => {
    const file = await campaign({
      'campaign.yaml': `${start}include: [sub/a.yaml]\nvars: { style: oil }\n`,
      'sub/a.yaml': [
        'include: [b.yaml]',
        'tasks:',
        '  hero:',
        '    kind: image',
        '    foreach: p.csv',
        '    schema: p.schema.json',
        '    key: "{{row.sku}}"',
        '    with: { prompt: "{{row.name}}, {{vars.style}}" }',
        '  photo: { kind: image, foreach: "art/*.png", with: { prompt: "like {{row.stem}}" } }',
        '  logo: { kind: upload, with: { file: art/logo.png } }',
        '',
      ].join('\n'),
      'sub/b.yaml': 'vars: { style: ink }\ndefaults: { image: { resolution: 1k } }\n',
      'sub/p.csv': 'sku,name\nA,Lamp\n',
      'sub/p.schema.json': '{ "properties": { "sku": { "type": "string" } } }',
      'sub/art/logo.png': '\0\0\0\0\0',
    });
    const { graph, diagnostics } = await loadManifest(file, {});
    expect(diagnostics).toEqual([]);
    expect(graph?.steps.map(({ address, request }) => [address, request]).sort()).toMatchObject([
      ['hero@A', { prompt: 'Lamp, oil', resolution: '1k' }],
      ['logo', {}],
      ['photo@logo', { prompt: 'like logo', resolution: '1k' }],
    ]);
    expect(graph?.steps.find(({ address }) => address === 'logo')?.file).toMatchObject({
      path: 'sub/art/logo.png',
      bytes: 5,
    });
  });

  it('mistakes of every file are shown with the line that has them', async () => {
    const file = await campaign({
      'campaign.yaml': `${start}include: [sub/a.yaml]\ntasks: { own: { kind: image, with: { prompt: "{{vars.x}}" } } }\n`,
      'sub/a.yaml':
        'tasks:\n  hero: { kind: image, foreach: p.csv, key: "{{row.sku}}", with: { prompt: "{{row.nmae}}" } }\n',
      'sub/p.csv': 'sku,name\nA,Lamp\n',
    });
    const { diagnostics, sources } = await loadManifest(file, {});
    const folder = dirname(file);
    expect(diagnostics.map((one) => summarize(one).replace(`${folder}/`, ''))).toEqual([
      'MB1203 campaign.yaml:4:49',
      'MB1203 sub/a.yaml:2:79',
    ]);
    const text = diagnosticsText(diagnostics, sources, { style: makeStyle(false) });
    expect(text).toContain('  2 |   hero: { kind: image');
    expect(text).toContain('  4 | tasks: { own:');
  });
});

it('all mistakes of a manifest are found at once', () => {
  const text = `vars: { a: 1 }
version: 1
name: x
service: { url: "https://x" }
tasks:
  a:
    kind: image
    colour: x
    foreach: missing.csv
    with: { promt: x, model: alpha-3, prompt: "{{vars.b}}" }
    save: ../x
  b:
    kind: music
    with: { prompt: "{{tasks.c.url}} {{upper}}" }
    needs: [d]
`;
  expect(
    load(text)
      .found.map((one) => one.slice(0, 6))
      .sort(),
  ).toEqual(
    ['MB1101', 'MB1104', 'MB1202', 'MB1203', 'MB1301', 'MB1403', 'MB1403', 'MB1501', 'MB1502', 'MB1503'].sort(),
  );
});

it('a manifest has at most as many bytes as are read of it', () => {
  const text = image('prompt: x');
  const fill = (bytes: number) => `${text}#${'é'.repeat((bytes - text.length - 1) / 2)}`;
  const odd = (maxManifestBytes - text.length - 1) % 2;
  expect(load(fill(maxManifestBytes - odd)).found).toEqual([]);
  expect(load(fill(maxManifestBytes - odd + 2)).found).toEqual(['MB1007 campaign.yaml:1:1']);
});

it('brackets without end are refused, however deep the parser gets', () => {
  const { diagnostics } = load(`a: ${'['.repeat(5000)}`);
  expect(diagnostics.map((one) => one.code)).toEqual(['MB1007']);
});

it('tells at most a hundred mistakes', () => {
  const text = tasks(...Array.from({ length: 300 }, (_, index) => `  t${index}: { kind: image, with: { promt: x } }`));
  const { diagnostics } = load(text);
  expect(diagnostics.length).toBe(100);
});
