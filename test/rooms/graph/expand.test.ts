import { describe, expect, it } from 'vitest';
import { trailOf } from '../../../src/graph/expand/draft.ts';
import { load, steps, tasks } from '../manifest/load.ts';

const csv = 'sku,name\nA1,Lamp\nB2,Vase\n';

function addresses(text: string, data: Record<string, string> = {}): string[] {
  return steps(text, { data }).map((step) => step.address);
}

it('rows, then cells, then takes', () => {
  const text = tasks(
    '  hero:',
    '    kind: image',
    '    foreach: p.csv',
    '    key: "{{row.sku}}"',
    '    matrix: { ratio: ["1:1", "9:16"], size: [1k] }',
    '    takes: 2',
    '    with: { prompt: "{{row.name}} {{take}}", aspectRatio: "{{matrix.ratio}}", resolution: "{{matrix.size}}" }',
  );
  const list = steps(text, { data: { 'p.csv': csv } });
  expect(list.map((step) => step.address)).toEqual([
    'hero@A1,1:1,1k/1',
    'hero@A1,1:1,1k/2',
    'hero@A1,9:16,1k/1',
    'hero@A1,9:16,1k/2',
    'hero@B2,1:1,1k/1',
    'hero@B2,1:1,1k/2',
    'hero@B2,9:16,1k/1',
    'hero@B2,9:16,1k/2',
  ]);
  expect(list[3]).toMatchObject({
    key: 'A1',
    matrix: { ratio: '9:16', size: '1k' },
    take: 2,
    request: { prompt: 'Lamp 2', aspectRatio: '9:16', resolution: '1k' },
    save: 'output/hero-a1-9-16-1k-2',
  });
  expect(list[3] && trailOf(list[3])).toEqual(['task hero', 'row 1 of p.csv', 'ratio 9:16', 'size 1k', 'take 2']);
});

it('exclude removes and include adds cells', () => {
  const text = tasks(
    '  a:',
    '    kind: image',
    '    matrix:',
    '      r: [x, y]',
    '      s: [1, 2]',
    '      exclude: [{ r: x, s: 2 }, { r: y, s: "1" }]',
    '      include: [{ s: 3, r: z }, { r: x, s: 3 }]',
    '    with: { prompt: "{{matrix.r}} {{matrix.s}}" }',
  );
  expect(addresses(text)).toEqual(['a@x,1', 'a@y,2', 'a@z,3', 'a@x,3']);
});

it('an axis may be a var, and its values are slugged where an address cannot have them', () => {
  const text = `vars: { places: ["on a table", "in/out"] }\n${tasks('  a: { kind: image, matrix: { p: "{{vars.places}}" }, with: { prompt: "{{matrix.p}}" } }')}`;
  const list = steps(text);
  expect(list.map((step) => step.address)).toEqual(['a@on-a-table', 'a@in-out']);
  expect(list.map((step) => step.matrix.p)).toEqual(['on a table', 'in/out']);
});

it.each([
  ['an inline list', '[en, 2, true]', 'a@en a@2 a@true'],
  ['a var', '"{{vars.langs}}"', 'a@fr a@it'],
])('scalar rows are their own keys: %s', (_, foreach, expected) => {
  const text = `vars: { langs: [fr, it] }\n${tasks(`  a: { kind: image, foreach: ${foreach}, with: { prompt: "{{row}} {{key}}" } }`)}`;
  expect(addresses(text).join(' ')).toBe(expected);
  expect(steps(text)[0]?.request.prompt).toMatch(/^(\w+) \1$/);
});

it.each([
  ['p.csv', csv],
  ['p.csv', '\ufeffsku,name\r\n"A1","Lamp"\r\n\r\nB2,Vase'],
  ['p.json', '[{"sku":"A1","name":"Lamp"},{"name":"Vase","sku":"B2"}]'],
  ['p.jsonl', '{"sku":"A1","name":"Lamp"}\n\n{"sku":"B2","name":"Vase"}'],
  ['p.yaml', '- { sku: A1, name: Lamp }\n- sku: B2\n  name: Vase\n'],
  ['sub/p.yml', '- &a { sku: A1, name: Lamp }\n- { <<: *a, sku: B2, name: Vase }\n'],
])('rows of %s', (file, content) => {
  const text = tasks(
    '  a:',
    '    kind: image',
    `    foreach: ${file}`,
    '    key: "{{row.sku}}"',
    '    with: { prompt: "{{row.name}}" }',
  );
  const list = steps(text, { data: { [file]: content } });
  expect(list.map((step) => [step.address, step.request.prompt])).toEqual([
    ['a@A1', 'Lamp'],
    ['a@B2', 'Vase'],
  ]);
});

it('a row that lacks a field is reported with its place, unless the template has a default', () => {
  const data = { 'p.json': '[{"id":"a","x":"1"},\n{"id":"b"}]' };
  const text = (prompt: string) =>
    tasks(`  a: { kind: image, foreach: p.json, key: "{{row.id}}", with: { prompt: '${prompt}' } }`);
  const { diagnostics } = load(text('x {{row.x}}'), { data });
  expect(diagnostics).toMatchObject([
    { code: 'MB1203', message: '`row.x` is missing in row 2 of p.json', related: [{ place: { start: { line: 2 } } }] },
  ]);
  expect(steps(text('x {{default row.x "-"}}'), { data }).map((step) => step.request.prompt)).toEqual(['x 1', 'x -']);
  expect(steps(text('x{{#if row.x}} {{row.x}}{{/if}}'), { data }).map((step) => step.request.prompt)).toEqual([
    'x 1',
    'x',
  ]);
});

it('names that objects have are ordinary names', () => {
  const text = `vars: { constructor: c, __proto__: p }
version: 1
name: test
tasks:
  __proto__:
    kind: image
    foreach: p.json
    key: "{{row.__proto__}}"
    matrix: { constructor: [toString] }
    with: { prompt: "{{vars.constructor}}{{vars.__proto__}}{{row.hasOwnProperty}}{{matrix.constructor}}{{tasks.toString.url}}" }
    from: { toString: { hasOwnProperty: x } }
  toString: { kind: image, matrix: { hasOwnProperty: [x] }, with: { prompt: y } }
`;
  const list = steps(text, { data: { 'p.json': '[{"__proto__": "k", "hasOwnProperty": "h"}]' } });
  expect(list.map((step) => step.address)).toEqual(['toString@x', '__proto__@k,toString']);
  expect(list[1]?.request.prompt).toEqual({ $text: ['cphtoString', { $ref: 'toString@x', field: 'url' }] });
});

it('says how a save path is made, in one form for every system', () => {
  const text = tasks(
    '  a: { kind: image, foreach: [Cafe\\u0301, B], save: "img/{{row}}", with: { prompt: x } }'.replace(
      'Cafe\\u0301',
      '"Cafe\\u0301"',
    ),
    '  b: { kind: image, takes: 2, save: "x/{{take}}-of-b", with: { prompt: x } }',
    '  c: { kind: image, takes: 2, save: y/c, with: { prompt: x } }',
  );
  expect(steps(text).map((step) => step.save)).toEqual(['img/Café', 'img/B', 'x/1-of-b', 'x/2-of-b', 'y/c-1', 'y/c-2']);
});

it('the graph keeps what the campaign says about itself', () => {
  const { graph } = load(
    `version: 1
name: aurora
budget: { credits: 120 }
service: { concurrency: 8 }
vars: { product: Lamp }
tasks:
  b: { kind: image, description: "For {{vars.product}}", tags: [launch], with: { prompt: "{{tasks.a.url}}" } }
  a: { kind: music, foreach: [x, y], with: { prompt: x, lyrics: y } , needs: [] }
`.replace('foreach: [x, y], ', ''),
  );
  expect(graph).toMatchObject({
    name: 'aurora',
    budget: 120,
    concurrency: 8,
    tasks: [
      { id: 'b', kind: 'image', description: 'For Lamp', steps: 1, tags: ['launch'] },
      { id: 'a', kind: 'music', steps: 1 },
    ],
    warnings: [],
  });
  expect(graph?.steps.map((step) => step.address)).toEqual(['a', 'b']);
});

describe('rows that tasks share', () => {
  const shared = (...lines: string[]) =>
    [
      'version: 1',
      'name: test',
      'rows:',
      '  products: { foreach: p.csv, key: "{{row.sku}}", when: "{{ne row.sku \'C3\'}}" }',
      'tasks:',
      ...lines,
      '',
    ].join('\n');
  const rows = { 'p.csv': `${csv}C3,Chair\n` };
  const hero = '  hero: { kind: image, rows: products, with: { prompt: "{{row.name}}" } }';

  it('are theirs, and join by themselves', () => {
    const cover =
      '  cover: { kind: image, rows: products, when: "{{eq key \'B2\'}}", with: { prompt: x, referenceImages: ["{{tasks.hero.url}}"] } }';
    expect(steps(shared(hero, cover), { data: rows }).map(({ address, needs }) => [address, needs])).toEqual([
      ['hero@A1', []],
      ['hero@B2', []],
      ['cover@B2', ['hero@B2']],
    ]);
  });

  it('make the same requests as rows of their own', () => {
    const own = tasks('  hero: { kind: image, foreach: p.csv, key: "{{row.sku}}", with: { prompt: "{{row.name}}" } }');
    const [mine] = steps(own, { data: rows });
    expect(steps(shared(hero), { data: rows })[0]?.fingerprint).toBe(mine?.fingerprint);
  });

  it('may stand in an included manifest, beside their file', () => {
    const text = ['version: 1', 'name: test', 'include: [a/shared.yaml]', 'tasks:', hero, ''].join('\n');
    const data = {
      'a/shared.yaml': 'rows:\n  products: { foreach: { file: p.csv }, key: "{{row.sku}}" }\n',
      'a/p.csv': csv,
    };
    expect(addresses(text, data)).toEqual(['hero@A1', 'hero@B2']);
    const inside = [
      'version: 1',
      'name: test',
      'include: [a/shared.yaml]',
      'rows:',
      '  products: { foreach: p.csv, key: "{{row.sku}}" }',
      '',
    ].join('\n');
    expect(addresses(inside, { 'a/shared.yaml': `tasks:\n${hero}\n`, 'p.csv': csv })).toEqual(['hero@A1', 'hero@B2']);
  });

  it.each([
    [
      'a column of their key',
      shared(hero).replace('{{row.sku}}"', '{{row.sk}}"'),
      ['MB1203 campaign.yaml:4:39'],
      'did you mean `row.sku`?',
    ],
    [
      'a name that is not theirs',
      shared(hero.replace('rows: products', 'rows: product')),
      ['MB1103 campaign.yaml:6:30'],
      'did you mean `products`?',
    ],
    [
      'rows, and rows of its own',
      shared(hero.replace('rows: products', 'rows: products, foreach: p.csv')),
      ['MB1103 campaign.yaml:6:40'],
      'has `foreach`, which `rows`',
    ],
    [
      'a template for a name',
      shared(hero.replace('rows: products', 'rows: "{{vars.x}}"')),
      ['MB1202 campaign.yaml:6:30'],
      'cannot be a template',
    ],
    ['no source', shared(hero).replace('foreach: p.csv, ', ''), ['MB1102 campaign.yaml:4:3'], 'has no `foreach`'],
    [
      'a condition that is none',
      shared(hero).replace('"{{ne row.sku \'C3\'}}"', 'maybe'),
      ['MB1103 campaign.yaml:4:57'],
      'of rows `products` is the string "maybe"',
    ],
  ])('mistakes: %s', (_name, text, expected, says) => {
    const { found, diagnostics } = load(text, { data: rows });
    expect(found).toEqual(expected);
    expect(diagnostics.map(({ message, hint }) => `${message} ${hint}`).join('\n')).toContain(says);
  });
});

describe('a ratio that is expected', () => {
  const hero = (ratio: string) =>
    tasks(
      '  hero:',
      '    kind: image',
      '    foreach: p.csv',
      '    key: "{{row.sku}}"',
      '    matrix: { ratio: ["1:1", "9:16"] }',
      '    with: { prompt: x, aspectRatio: "{{matrix.ratio}}" }',
      `    expect: { ratio: "${ratio}", width: { min: 512 } }`,
    );

  it('is of each step, by what tells it apart', () => {
    const expected = steps(hero('{{matrix.ratio}}'), { data: { 'p.csv': csv } }).map(({ rules }) => rules?.expect);
    const [square, tall] = ['1:1', '9:16'].map((ratio) => ({ ratio, width: { min: 512 } }));
    expect(expected).toEqual([square, tall, square, tall]);
  });

  it.each([
    ['{{matrix.format}}', 'MB1203 campaign.yaml:10:25', 'format'],
    ['{{tasks.hero.url}}', 'MB1202 campaign.yaml:10:25', 'tasks'],
    ['wide', 'MB1103 campaign.yaml:10:22', '`expect.ratio` of task `hero` is "wide"'],
  ])('%s: %s', (ratio, found, says) => {
    const loaded = load(hero(ratio), { data: { 'p.csv': csv } });
    expect(loaded.found[0]).toBe(found);
    expect(loaded.diagnostics[0]?.message).toContain(says);
  });
});
