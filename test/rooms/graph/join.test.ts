import { expect, it } from 'vitest';
import { load, steps, tasks } from '../manifest/load.ts';

/** Two products in two ratios. */
const hero = '  hero: { kind: image, foreach: [A, B], matrix: { r: ["1:1", "9:16"] }, with: { prompt: x } }';

const one = 'with: { prompt: "{{tasks.hero.url}}" }';
const all = 'with: { prompt: x, referenceImages: "{{tasks.hero.urls}}" }';

/** A task `hero`, here that of most rows, and a task `use` after it. */
const using = (keys: string, first = hero) => tasks(first, `  use: { kind: image, ${keys} }`);
const heroOf = (keys: string) => `  hero: { kind: image, ${keys}, with: { prompt: x } }`;

it.each<[name: string, use: string, expected: string[], first?: string]>([
  [
    'the only step',
    `foreach: [A, B], ${one}`,
    ['use@A hero', 'use@B hero'],
    '  hero: { kind: image, with: { prompt: x } }',
  ],
  [
    'equal keys and matrix values',
    `foreach: [B, A], matrix: { r: ["9:16"] }, ${one}`,
    ['use@B,9:16 hero@B,9:16', 'use@A,9:16 hero@A,9:16'],
  ],
  ['equal keys, the axis from `from`', `foreach: [A], ${one}, from: { hero: { r: "1:1" } }`, ['use@A hero@A,1:1']],
  [
    'the key from `from`',
    `foreach: [x], matrix: { r: ["1:1"] }, ${one}, from: { hero: { key: B } }`,
    ['use@x,1:1 hero@B,1:1'],
  ],
  [
    'a list in `from`',
    `foreach: [{ id: x, who: "B; A" }, { id: y, who: "" }], key: "{{row.id}}", ${all}, from: { hero: { key: "{{split row.who}}", r: "1:1" } }`,
    ['use@x hero@A,1:1 hero@B,1:1', 'use@y '],
  ],
  [
    'a template in `from`',
    `foreach: ["9"], key: "k{{row}}", ${one}, from: { hero: { key: A, r: "{{row}}:16" } }`,
    ['use@k9 hero@A,9:16'],
  ],
  [
    'a matrix value before an equal one',
    `foreach: [A], matrix: { r: ["1:1"] }, ${one}, from: { hero: { r: "9:16" } }`,
    ['use@A,1:1 hero@A,9:16'],
  ],
  ['a take', `${one}, from: { hero: { take: 2 } }`, ['use hero/2'], heroOf('takes: 3')],
  [
    'take by take',
    `takes: 2, ${one}, from: { hero: { take: "{{take}}" } }`,
    ['use/1 hero/1', 'use/2 hero/2'],
    heroOf('takes: 2'),
  ],
  ['the list of all', `foreach: [A], ${all}`, ['use@A hero@A,1:1 hero@A,9:16 hero@B,1:1 hero@B,9:16']],
  ['a list narrowed by `from`', `${all}, from: { hero: { r: "1:1" } }`, ['use hero@A,1:1 hero@B,1:1']],
  [
    'a number and a string that are alike',
    `matrix: { n: ["2"] }, ${one}`,
    ['use@2 hero@2'],
    heroOf('matrix: { n: [1, 2] }'),
  ],
  ['needs: the steps that join', 'foreach: [A], needs: [hero], with: { prompt: x }', ['use@A hero@A,1:1 hero@A,9:16']],
  [
    'needs: all where nothing joins',
    'needs: [hero], with: { prompt: x }',
    ['use hero@A,1:1 hero@A,9:16 hero@B,1:1 hero@B,9:16'],
  ],
  [
    'needs: all where keys have nothing in common',
    'foreach: [z], needs: [hero], with: { prompt: x }',
    ['use@z hero@A,1:1 hero@A,9:16 hero@B,1:1 hero@B,9:16'],
  ],
])('%s', (_, use, expected, first) => {
  const users = steps(using(use, first)).filter(({ task }) => task === 'use');
  expect(users.map(({ address, needs }) => `${address} ${needs.join(' ')}`)).toEqual(expected);
});

it.each<[name: string, use: string, found: string, says: string[], first?: string]>([
  [
    'several candidates',
    `foreach: [A], ${one}`,
    'MB1405 campaign.yaml:5:56',
    ['matches 2 steps', 'hero@A,1:1  hero@A,9:16', 'from: { hero: { r: "1:1" } }', '{{tasks.hero.urls}}'],
  ],
  [
    'several candidates by key and axis',
    one,
    'MB1405 campaign.yaml:5:42',
    ['matches 4 steps', 'from: { hero: { key: A, r: "1:1" } }'],
  ],
  ['several takes', one, 'MB1405 campaign.yaml:5:42', ['from: { hero: { take: 1 } }'], heroOf('takes: 2')],
  [
    'no candidate',
    `foreach: [A, z], matrix: { r: ["1:1"] }, ${one}`,
    'MB1405 campaign.yaml:5:83',
    ['no step of `hero` has key z, r 1:1', 'hero@A,1:1'],
  ],
  [
    'an axis that is not there',
    `foreach: [A], ${one}, from: { hero: { ratio: "1:1" } }`,
    'MB1405 campaign.yaml:5:93',
    ['no `ratio`', 'key, r'],
  ],
  [
    'a value that is not there',
    `foreach: [A], ${one}, from: { hero: { r: "2:1" } }`,
    'MB1405 campaign.yaml:5:56',
    ['no step of `hero` has r 2:1, key A'],
  ],
  [
    '`from` that nothing uses',
    'with: { prompt: x }, from: { hero: { r: "1:1" } }',
    'MB1405 campaign.yaml:5:52 warning',
    ['nothing in the task refers to `hero`'],
  ],
  [
    '`from` of an unknown task',
    'with: { prompt: x }, from: { heros: { r: "1:1" } }',
    'MB1403 campaign.yaml:5:52',
    ['did you mean `hero`'],
  ],
])('tells %s', (_, use, found, says, first) => {
  const loaded = load(using(use, first));
  expect(loaded.found).toEqual([found]);
  const words = loaded.diagnostics.map((one) => `${one.message} ${one.hint}`).join('\n');
  for (const word of says) expect(words).toContain(word);
});

it('references are what the next stages expect', () => {
  const [, step] = steps(
    tasks(
      '  logo: { kind: image, with: { prompt: x } }',
      '  use: { kind: image, with: { prompt: "like {{tasks.logo.url}}, larger", referenceImages: ["{{tasks.logo.url}}"] } }',
    ),
  );
  const reference = { $ref: 'logo', field: 'url' };
  expect(step?.request).toEqual({ prompt: { $text: ['like ', reference, ', larger'] }, referenceImages: [reference] });
  expect(step?.needs).toEqual(['logo']);
  const paid = { $ref: expect.stringMatching(/^1:[0-9a-f]{64}$/), field: 'url' };
  expect(step?.paidRequest).toEqual({ prompt: { $text: ['like ', paid, ', larger'] }, referenceImages: [paid] });
});

it('a circle is reported with every reference in it', () => {
  const { diagnostics } = load(
    tasks(
      '  a: { kind: image, with: { prompt: "{{tasks.b.url}}" } }',
      '  b: { kind: image, needs: [c], with: { prompt: x } }',
      '  c: { kind: image, with: { prompt: "{{tasks.a.url}}" } }',
    ),
  );
  expect(diagnostics).toMatchObject([
    {
      code: 'MB1404',
      message: 'tasks need each other in a circle: a → b → c → a',
      place: { start: { line: 4, column: 40 } },
      related: [
        { message: '`b` needs `c`', place: { start: { line: 5, column: 29 } } },
        { message: '`c` refers to `a`', place: { start: { line: 6, column: 40 } } },
      ],
    },
  ]);
});
