import { describe, expect, it, test } from 'vitest';
import { checkRequest } from '../../../src/graph/check/check-request.ts';
import type { Json } from '../../../src/ground/json.ts';
import { unknownValue } from '../../../src/ground/values.ts';
import { kinds, requireKind } from '../../../src/kinds/index.ts';
import { readCatalogListing } from '../../../src/kinds/listed-model.ts';
import { readServiceDocument } from '../../../src/kinds/service-document.ts';
import { load, steps, tasks } from '../manifest/load.ts';
import { products, productTask, testMistakes } from '../manifest/mistakes.ts';

const withVars = (vars: string, ...lines: string[]) => `vars: { ${vars} }\n${tasks(...lines)}`;

describe('mistakes', () => {
  testMistakes([
    {
      name: 'rows without key',
      text: tasks('  a: { kind: image, foreach: p.csv, with: { prompt: x } }'),
      data: { 'p.csv': products },
      found: ['MB1401 4:30'],
      says: ['{{row.sku}}'],
    },
    {
      name: 'rows without a key, with a column of two words',
      text: tasks('  a: { kind: image, foreach: p.csv, with: { prompt: x } }'),
      data: { 'p.csv': 'No 1,name\na,c\n' },
      found: ['MB1401 4:30'],
      says: ['{{row.[No 1]}}'],
    },
    [
      'a reference that names no output',
      tasks('  a: { kind: image, with: { prompt: "x {{tasks.b}}" } }\n  b: { kind: image, with: { prompt: x } }'),
      'MB1203 4:42',
      '{{tasks.b.url}}',
      'names no output',
    ],
    {
      name: 'an empty key',
      text: productTask('    with: { prompt: x }'),
      data: { 'products.csv': 'sku,name\nA,b\n,d\n' },
      found: ['MB1401 7:10'],
      says: ['empty'],
    },
    [
      'a key with white space',
      tasks('  a: { kind: image, foreach: [Aurora Lamp], with: { prompt: x } }'),
      'MB1401 4:21',
      '{{slug row}}',
      'white space',
    ],
    {
      name: 'a key with a blank at its end',
      text: productTask('    with: { prompt: x }'),
      data: { 'products.csv': 'sku,name\n"A ",b\n' },
      found: ['MB1401 7:10'],
      says: ['"{{trim row.sku}}"'],
    },
    {
      name: 'one condition that is wrong in many rows',
      text: productTask('    when: "{{row.name}}"\n    with: { prompt: x }'),
      data: { 'products.csv': 'sku,name\nA,b\nB,c\nC,d\n' },
      found: ['MB1409 8:11'],
      says: ['(and 2 more like this)'],
    },
    {
      name: 'a key twice',
      text: productTask('    with: { prompt: x }'),
      data: { 'products.csv': 'sku,name\nA,b\nB,c\nA,d\n' },
      found: ['MB1402 products.csv:4:1'],
      says: ['row 1 of products.csv', 'row 3 of products.csv'],
    },
    {
      name: 'a key that is the name of a column',
      text: productTask('    with: { prompt: x }').replace('"{{row.sku}}"', 'sku'),
      data: { 'products.csv': 'sku,name\nA,b\nB,c\nC,d\n' },
      found: ['MB1402 7:10'],
      says: ['the same for every row', '"{{row.sku}}"'],
    },
    {
      name: 'a key that is not quoted',
      text: productTask('    with: { prompt: "{{key}}" }').replace('"{{row.sku}}"', '{{row.sku}}'),
      data: { 'products.csv': products },
      found: ['MB1008 7:10'],
    },
    ['a numeric key', tasks('  a: { kind: image, foreach: [{ sku: A }], key: 5, with: { prompt: x } }'), 'MB1103 4:49'],
    [
      'need of an unknown task',
      tasks('  hero: { kind: image, with: { prompt: x }, needs: [heroo] }'),
      'MB1403 4:53',
      'did you mean `hero`',
    ],
    [
      'a reference to an unknown task',
      tasks(
        '  logo: { kind: image, with: { prompt: x } }',
        '  a: { kind: image, with: { prompt: "{{tasks.lgo.url}}" } }',
      ),
      'MB1403 5:40',
      'did you mean `tasks.logo`',
    ],
    [
      'two tasks in a circle',
      tasks(
        '  a: { kind: image, with: { prompt: "{{tasks.b.url}}" } }',
        '  b: { kind: image, with: { prompt: x }, needs: [a] }',
      ),
      'MB1404 4:40',
      'a → b → a',
    ],
    [
      'a circle of tasks whose steps have none',
      tasks(
        '  a:',
        '    kind: image',
        '    foreach: [x, y]',
        '    with: { prompt: "{{#if (eq key \\"x\\")}}{{tasks.a.url}}{{/if}} z" }',
        '    from: { a: { key: y } }',
      ),
      'MB1404 7:46',
    ],
    [
      'rows from vars that do not exist',
      withVars(
        'items: [a], deep: { list: [1] }',
        '  a: { kind: image, foreach: "{{vars.itms}}", with: { prompt: x } }',
        '  b: { kind: image, foreach: "{{vars.deep.lst}}", with: { prompt: x } }',
      ),
      'MB1203 5:33, MB1203 6:33',
      'did you mean `items`? vars: items, deep',
      'did you mean `list`? it has: list',
    ],
    [
      'vars in a circle, behind one that needs them',
      withVars(
        'c: "{{vars.a}}", a: "{{vars.b}}", b: "{{vars.a}}"',
        '  a: { kind: image, with: { prompt: "{{vars.c}}" } }',
      ),
      'MB1404 1:49',
      'vars.a → vars.b → vars.a',
    ],
    [
      'vars that are nearly named',
      withVars('brand: x', '  a: { kind: image, with: { prompt: "{{vras.brand}} {{brnd}} {{brand}}" } }'),
      'MB1203 5:40, MB1203 5:55, MB1203 5:64',
      '`vras.brand` is not known',
      'did you mean `vars.brand`?',
    ],
    {
      name: 'a made upload beside a task of its name, and without its file',
      text: tasks(
        '  upload: { kind: image, with: { prompt: x } }',
        '  a: { kind: image, with: { prompt: x, referenceImages: ["{{upload \'a.png\'}}"] } }',
      ),
      found: ['MB1402 4:3', 'MB1301 5:59'],
      says: ['already has a task with this name', 'a.png cannot be uploaded'],
    },
    [
      'an expected ratio that a row makes',
      tasks('  a: { kind: image, foreach: [x], with: { prompt: x }, expect: { ratio: "{{row}}" } }'),
      'MB1103 4:73',
      '`expect.ratio` of `a@x` is "x"',
    ],
    [
      'an output path with an extension',
      tasks('  a: { kind: image, with: { prompt: x }, save: images/a.png }'),
      'MB1602 4:48 warning',
      'leave .png out',
    ],
    [
      'a needed step that `from` does not find',
      tasks(
        '  a: { kind: image, foreach: [x], with: { prompt: x } }',
        '  b: { kind: image, with: { prompt: y }, needs: [a], from: { a: { key: z } } }',
      ),
      'MB1405 5:62',
      '`from` matches no step of `a`',
      'its steps have key',
    ],
    [
      'outputs of a task whose cells are all excluded',
      tasks(
        '  a: { kind: image, matrix: { r: [x], exclude: [{ r: x }] }, with: { prompt: x } }',
        '  b: { kind: image, with: { prompt: y, referenceImages: "{{tasks.a.urls}}" } }',
      ),
      'MB1408 4:39, MB1405 5:60',
      '`a` has no steps',
    ],
    [
      'an output of a task without rows',
      tasks(
        '  a: { kind: image, foreach: [], with: { prompt: x } }',
        '  b: { kind: image, with: { prompt: "{{tasks.a.url}}" }, needs: [a] }',
      ),
      'MB1408 4:21, MB1405 5:40',
      '`a` has no steps',
    ],
    [
      'keys of a list that do not exist',
      tasks(
        '  a: { kind: image, foreach: [x], with: { prompt: x } }',
        '  b: { kind: image, with: { prompt: y, referenceImages: "{{tasks.a.urls}}" }, from: { a: { key: [z, x, w] } } }',
      ),
      'MB1405 5:60, MB1405 5:60',
      'no step of `a` has key z',
      'no step of `a` has key w',
    ],
    [
      'a list for one reference',
      tasks(
        '  a: { kind: image, foreach: [x, y], with: { prompt: x } }',
        '  b: { kind: image, with: { prompt: y, referenceImages: ["{{tasks.a.url}}"] }, from: { a: { key: [y, x] } } }',
      ),
      'MB1405 5:61',
      'is one output, but `from` selects 2 steps of `a`',
      '{{tasks.a.urls}}',
    ],
    [
      'a map as a pick',
      `version: 1\nname: n\nvars: { m: { a: 1 } }\n${tasks(
        '  a: { kind: image, foreach: [x], with: { prompt: x } }',
        '  b: { kind: image, with: { prompt: y, referenceImages: "{{tasks.a.urls}}" }, from: { a: { key: "{{vars.m}}" } } }',
      ).replace(/^[\s\S]*?(?=tasks:)/, '')}`,
      'MB1405 6:97',
      '`from.a.key` is a map',
    ],
    {
      name: 'a row whose joined column holds a list',
      text: `version: 1\nname: n\ntables: { t: { file: t.csv, on: [id] } }\n${tasks(
        '  b: { kind: image, foreach: [{ k: x, id: [1] }], key: "{{row.k}}", with: { prompt: "{{t.text}}" } }',
      ).replace(/^[\s\S]*?(?=tasks:)/, '')}`,
      data: { 't.csv': 'id,text\n1,y\n' },
      found: ['MB1307 5:31'],
      says: ['neither a string nor a number'],
    },
    {
      name: 'too many steps',
      text: tasks(
        '  a:',
        '    kind: image',
        '    foreach: p.csv',
        '    key: "{{row.a}}"',
        '    takes: 20',
        '    with: { prompt: x }',
      ),
      data: { 'p.csv': `a\n${Array.from({ length: 5001 }, (_, index) => index).join('\n')}\n` },
      found: ['MB1007 4:3'],
    },
  ]);

  it.each([
    ['{"k":"a","x":{"$ref":"hero@a","field":"url"}}'],
    ['{"k":"a","x":{"$text":["a",{"$ref":"hero@a"}]}}'],
    ['{"k":"a","x":[{"deep":{"$sha256":"1"}}]}'],
  ])('a row %s that looks like a reference is reported', (row) => {
    const text = tasks(
      '  hero: { kind: video, foreach: r.json, key: "{{row.k}}", with: { prompt: p, extra: "{{row.x}}" } }',
    );
    const { found, diagnostics } = load(text, { data: { 'r.json': `[${row}]` } });
    expect(found).toEqual([expect.stringContaining('MB1503 campaign.yaml:4:')]);
    expect(diagnostics[0]?.message).toContain('keys that start with $');
  });
});

test.each([
  ['a line that is too short', 'sku,name\na,A\nb\n', 'MB1302'],
  ['no rows', 'sku,name\n', 'MB1408'],
  ['a file that cannot be read as a table', 'sku,name\n"a', 'MB1302'],
])('a mistake in a data file of several tasks is one error that names them: %s', (_what, csv, code) => {
  const task = 'kind: image, foreach: p.csv, key: "{{row.sku}}", with: { prompt: "{{row.name}}" }, save: ';
  const all = ['t0', 't1'].map((id) => `  ${id}: { ${task}"${id}/{{key}}" }`);
  const found = load(tasks(...all), { data: { 'p.csv': csv } }).diagnostics;
  expect(found.map((one) => one.code)).toEqual([code]);
  expect(`${found[0]?.message} ${found[0]?.trail}`).toContain('tasks t0, t1');
});

describe('null in a template', () => {
  testMistakes([
    [
      'printed into a text, from vars and loops',
      withVars(
        'n: null, e: , l: [~]',
        '  a: { kind: image, with: { prompt: "a {{vars.n}}" } }',
        '  b: { kind: image, with: { prompt: "a {{vars.e}}" } }',
        '  c: { kind: image, with: { prompt: "{{#each vars.l}}{{this}}{{/each}}" } }',
      ),
      'MB1204 5:42, MB1204 6:42, MB1204 7:56',
      '`vars.n` is null and cannot be printed',
      '`vars.e` is null',
      '`this` is null',
    ],
    [
      'given to a helper',
      withVars(
        'n: null, l: [a, null]',
        '  a: { kind: image, with: { prompt: "{{upper vars.n}} {{join vars.l}} {{pad vars.n 2}}" } }',
      ),
      'MB1204 5:38, MB1204 5:55, MB1204 5:71',
      'got null',
      'found null in it',
    ],
    [
      'alone, where a string or a number must stand',
      withVars(
        'n: null, m: "{{vars.n}}", l: [a, null]',
        '  a: { kind: image, with: { prompt: "{{vars.n}}" } }',
        '  b: { kind: image, with: { prompt: x }, save: "{{vars.m}}" }',
        '  d: { kind: image, with: { prompt: x }, key: "{{vars.n}}" }',
        '  e: { kind: image, with: { prompt: x }, matrix: { r: "{{vars.l}}" } }',
      ),
      'MB1103 1:42, MB1503 5:37, MB1602 6:48, MB1401 7:47',
      '`prompt` is null',
      'the key of task `d` is null',
      'value 2 of `l` has no text or number',
    ],
  ]);

  it('is sent as null where nobody documents that it cannot be, and never as something else', () => {
    const text = withVars(
      'n: null',
      '  a: { kind: influencer, with: { prompt: x, seed: "{{vars.n}}", more: ["{{vars.n}}", { b: "{{vars.n}}" }] } }',
    );
    const [step] = load(text).graph?.steps ?? [];
    expect(step?.request).toEqual({ prompt: 'x', seed: null, more: [null, { b: null }] });
    expect(JSON.stringify(step?.request)).not.toContain(JSON.stringify(unknownValue));
  });
});

const documentOf = (path: string, schema: { [name: string]: Json }) =>
  readServiceDocument(
    { paths: { [path]: { post: { requestBody: { content: { 'application/json': { schema } } } } } } },
    kinds,
  ).listing;

const images = (models: { [model: string]: Json }, properties: { [field: string]: Json } = {}) =>
  documentOf('/image-generations/create', { properties, 'x-models': models });

/** Codes of a request, each with its field. */
function codesOf(kind: string, request: { [field: string]: Json }, listings: Parameters<typeof checkRequest>[2]) {
  return checkRequest(requireKind(kind), request, listings).map(({ code, at: [field] }) => `${code} ${field}`);
}

describe('a name that this version does not know', () => {
  const omega = images({ 'omega-9': { resolution: ['8k'], aspectRatio: ['1:1'] }, 'alpha-2': { resolution: ['8k'] } });
  const wide = images({}, { aspectRatio: { enum: ['32:9'] }, model: { enum: ['omega-9'] } });
  const voices = documentOf('/voiceovers/create', { properties: { text: {}, voice_id: { enum: ['Nova'] } } });
  const formats = documentOf('/music-generations/create', { properties: { output_format: { enum: ['ogg'] } } });
  const catalog = readCatalogListing({ image: [{ key: 'omega-9', allowed: { resolution: ['8k'] } }] }, kinds);

  it.each<[string, string, { [field: string]: Json }, object, string[]]>([
    ['a model of the document', 'image', { model: 'omega-9' }, omega, ['MB1507 model']],
    ['a model of the catalog', 'image', { model: 'omega-9' }, catalog, ['MB1507 model']],
    ['a model of nobody', 'image', { model: 'omega-8' }, omega, ['MB1503 model']],
    ['a size that is new for its model', 'image', { resolution: '8k' }, omega, ['MB1507 resolution']],
    ['a size of another model', 'image', { model: 'alpha-pro', resolution: '8k' }, omega, ['MB1503 resolution']],
    ['a ratio that is listed for no model', 'image', { aspectRatio: '32:9' }, wide, ['MB1503 aspectRatio']],
    ['a size of a new model', 'image', { model: 'omega-9', resolution: '8k' }, omega, ['MB1507 model']],
    ['a voice', 'voiceover', { text: 'a', voice_id: 'Nova' }, voices, ['MB1507 voice_id']],
    ['a format', 'music', { model: 'song-7.5', output_format: 'ogg' }, formats, ['MB1507 output_format']],
    ['a name that every object has', 'image', { model: 'constructor' }, omega, ['MB1503 model']],
  ])('%s', (_name, kind, request, listing, codes) => {
    const listings = [listing as typeof omega];
    expect(codesOf(kind, { prompt: 'p', ...request }, { listings }).filter((code) => code !== 'MB1501 prompt')).toEqual(
      codes,
    );
    expect(codesOf(kind, { prompt: 'p', ...request }, {}).join()).toContain('MB1503');
  });

  test('passes no other rule by being listed', () => {
    expect(codesOf('image', { model: 'omega-9', referenceImages: ['http://x'] }, { listings: [omega] })).toEqual([
      'MB1505 referenceImages',
      'MB1507 model',
      'MB1502 prompt',
    ]);
  });

  it.each<[string, Json]>([
    ['words for lists', { 'omega-9': { resolution: '8k', aspectRatio: { '8k': 1 } }, 'alpha-2': '8k' }],
    ['lists in the wrong place', { 'alpha-2': { sizes: ['8k'] }, resolution: ['8k'] }],
  ])('is not let in by %s', (_name, models) => {
    const listings = [documentOf('/image-generations/create', { 'x-models': models })];
    expect(codesOf('image', { prompt: 'p', resolution: '8k' }, { listings })).toEqual(['MB1503 resolution']);
  });
});

describe('read text', () => {
  const songs = 'id,path\nrain,lyrics/rain.txt\nsun,lyrics/sun.txt\n';
  const data = {
    'songs.csv': songs,
    'lyrics/rain.txt': 'Rain on\r\nthe roof\r\n',
    'lyrics/sun.txt': 'A {{row.id}} day\n\n',
  };
  const campaign = (lyrics: string, ...more: string[]) =>
    tasks(
      '  s:',
      '    kind: image',
      '    foreach: songs.csv',
      '    key: "{{row.id}}"',
      `    with: { prompt: ${lyrics} }`,
      ...more,
    );

  it('is the text of a file with LF, and without the line break at its end', () => {
    const prompts = steps(campaign('"{{read row.path}}"'), { data }).map(({ request }) => request.prompt);
    expect(prompts).toEqual(['Rain on\nthe roof', 'A {{row.id}} day\n']);
  });

  it('stands among other words and in helpers', () => {
    const [rain] = steps(campaign(`"Calm: {{truncate (read row.path) 4}}; {{key}}"`), { data });
    expect(rain?.request.prompt).toBe('Calm: Rain; rain');
  });

  it.each(['"{{read row.path}}"', '"Calm: {{read row.path}} ({{row.id}})"'])(
    'is an origin of a change: %s',
    (prompt) => {
      const { trace } = load(campaign(prompt), { data });
      const [before, after] = ['Rain in May', 'Rain on\nthe roof'].map((text) =>
        prompt.startsWith('"{{') ? text : `Calm: ${text} (rain)`,
      );
      const found = trace?.('s@rain', { path: ['prompt'], before: before ?? '', after: after ?? '' });
      expect(found).toEqual({ is: 'data', name: 'text', file: 'lyrics/rain.txt', line: 1 });
    },
  );

  testMistakes([
    {
      name: 'a file that is not there',
      text: campaign('"{{read \'lyrics/snow.txt\'}}"'),
      data,
      found: ['MB1301 8:22'],
      says: ['lyrics/snow.txt does not exist'],
    },
    {
      name: 'a file outside of the folder',
      text: campaign('"{{read \'../snow.txt\'}}"'),
      data,
      found: ['MB1301 8:22'],
      says: ['is not the path of a file below the folder of the manifest'],
    },
  ]);
});
