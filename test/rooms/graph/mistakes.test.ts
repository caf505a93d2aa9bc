import { expect, it } from 'vitest';
import { load, tasks } from '../manifest/load.ts';
import { products, productTask, testMistakes } from '../manifest/mistakes.ts';

testMistakes([
  {
    name: 'rows without key',
    text: tasks('  a: { kind: image, foreach: p.csv, with: { prompt: x } }'),
    data: { 'p.csv': products },
    found: ['MB1401 4:30'],
    says: ['{{row.sku}}'],
  },
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
    name: 'a key with white space, of a column in brackets',
    text: tasks('  a: { kind: image, foreach: p.csv, key: "{{row.[No 1]}}", with: { prompt: x } }'),
    data: { 'p.csv': 'No 1,name\na b,c\n' },
    found: ['MB1401 4:42'],
    says: ['{{slug row.[No 1]}}'],
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
    says: ['the same for every row', 'write "{{row.sku}}"'],
  },
  [
    'a key that is the same var for every row',
    `vars: { v: k }\n${tasks('  a: { kind: image, foreach: [x, y], key: "{{vars.v}}", with: { prompt: x } }')}`,
    'MB1402 5:43',
    'write "{{row}}"',
  ],
  {
    name: 'a key that is not quoted',
    text: productTask('    with: { prompt: "{{key}}" }').replace('"{{row.sku}}"', '{{row.sku}}'),
    data: { 'products.csv': products },
    found: ['MB1008 7:10'],
  },
  [
    'a key that is a number',
    tasks('  a: { kind: image, foreach: [{ sku: A }], key: 5, with: { prompt: x } }'),
    'MB1103 4:49',
  ],
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
  ['a task that needs itself', tasks('  a: { kind: image, with: { prompt: "{{tasks.a.url}}" } }'), 'MB1404 4:40'],
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
    'an axis whose values look alike',
    tasks('  a: { kind: image, matrix: { r: [a b, a-b] }, with: { prompt: x } }'),
    'MB1402 4:40',
  ],
  ['an axis without values', tasks('  a: { kind: image, matrix: { r: [] }, with: { prompt: x } }'), 'MB1103 4:31'],
  [
    'an axis that is one text',
    tasks('  a: { kind: image, matrix: { ratio: "1:1" }, with: { prompt: "{{matrix.ratio}}" } }'),
    'MB1103 4:38',
    'write a list: ["1:1"]',
  ],
  [
    'an axis that is one number',
    tasks('  a: { kind: image, matrix: { n: 5 }, with: { prompt: x } }'),
    'MB1103 4:34',
    'write a list: [5]',
  ],
  [
    'an axis that is a text with a template in it',
    `vars: { l: [1] }\n${tasks('  a: { kind: image, matrix: { r: "x {{vars.l}}" }, with: { prompt: x } }')}`,
    'MB1202 5:34',
  ],
  ['an axis named key', tasks('  a: { kind: image, matrix: { key: [1] }, with: { prompt: x } }'), 'MB1103 4:31'],
  [
    'include without an axis',
    tasks('  a: { kind: image, matrix: { r: [x], s: [1], include: [{ r: z }] }, with: { prompt: x } }'),
    'MB1103 4:57',
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
    'outputs that `from` filters out entirely',
    tasks(
      '  a: { kind: image, foreach: [x], with: { prompt: x } }',
      '  b: { kind: image, with: { prompt: y, referenceImages: "{{tasks.a.urls}}" }, from: { a: { key: z } } }',
    ),
    'MB1405 5:60',
    'no step of `a` has key z',
    'a@x',
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
    says: ['neither a text nor a number'],
  },
  [
    'ten thousand million cells',
    tasks(
      '  a:',
      '    kind: image',
      '    matrix:',
      ...'abcdefghij'.split('').map((axis) => `      ${axis}: [0,1,2,3,4,5,6,7,8,9]`),
      '    with: { prompt: x }',
    ),
    'MB1007 6:5',
  ],
  [
    'one cell more than ten thousand',
    tasks(
      '  a:',
      '    kind: image',
      '    matrix:',
      ...'abcd'.split('').map((axis) => `      ${axis}: [0,1,2,3,4,5,6,7,8,9]`),
      '      include: [{ a: 10, b: 0, c: 0, d: 0 }]',
      '    with: { prompt: x }',
    ),
    'MB1007 6:5',
  ],
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
])('a row %s that looks like a reference of ours is told', (row) => {
  const text = tasks(
    '  hero: { kind: video, foreach: r.json, key: "{{row.k}}", with: { prompt: p, extra: "{{row.x}}" } }',
  );
  const { found, diagnostics } = load(text, { data: { 'r.json': `[${row}]` } });
  expect(found).toEqual([expect.stringContaining('MB1503 campaign.yaml:4:')]);
  expect(diagnostics[0]?.message).toContain('keys that start with $');
});
