import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { addressPart, stepAddress, taskOfAddress } from '../../../src/graph/address.ts';
import type { OpenRequest } from '../../../src/graph/graph.ts';
import type { Lock } from '../../../src/lock/record.ts';
import { emptyLock } from '../../../src/lock/write.ts';
import { type ChangeFacts, describeChange, describeChanges, findChanges } from '../../../src/plan/compare/changes.ts';
import { compareVersions } from '../../../src/plan/compare/compare-versions.ts';
import { findNamed, type Named, nearNames, readName, writeName } from '../../../src/plan/select/names.ts';
import { matchSelection, parseSelection, vocabularyOf } from '../../../src/plan/select/select.ts';
import { safeText } from '../../../src/report/safe-text.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lockOf, picture, saved, song, stepOf, urlOf } from './facts.ts';

/** Texts made of what has a meaning somewhere, and of what does not show. */
const odd = fc.string({
  unit: fc.constantFrom('kind:', 'tag:a', ...'ab1:+"\'\\-.#[…ä\u3164@,* '),
  minLength: 1,
  maxLength: 6,
});
const task = fc.constantFrom('hero', 'a', 'kind', 'tag', 'upload');

/** Addresses as a manifest makes them. */
const made = fc
  .record({
    task,
    key: fc.option(odd.map(addressPart), { nil: undefined }),
    values: fc.array(odd.map(addressPart), { maxLength: 3 }),
    take: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  })
  .map(({ task: id, ...parts }) => stepAddress(id, parts));

/** Addresses as only somebody else's lock can have them. With a + at an end, `+b+` may mean one of these, or `b` with others. */
const any = fc
  .string({ minLength: 1, maxLength: 8 })
  .filter((text) => text.trim() === text && text !== '' && !text.startsWith('+') && !text.endsWith('+'));

function selecting(addresses: readonly string[], tags: readonly string[]) {
  const graph = graphOfSteps(addresses.map((address) => ({ address, kind: 'image', request: { prompt: address } })));
  for (const step of graph.steps) step.tags = [...tags];
  const facts = { graph, stateOf: () => 'done' as const, costOf: () => 1 };
  return (text: string): string[] => {
    const selection = parseSelection(text, vocabularyOf(graph));
    if ('problem' in selection) throw new Error(`${text}: ${selection.problem}`);
    const found = matchSelection(selection, facts);
    if (!(found instanceof Set)) throw new Error(found.problem);
    return [...found];
  };
}

describe('an address', () => {
  const graphs = fc.oneof({ arbitrary: made, weight: 4 }, { arbitrary: any, weight: 1 });
  const campaign = fc.uniqueArray(graphs, { minLength: 1, maxLength: 12 });

  forAll([campaign, fc.array(odd, { maxLength: 2 })], runs(2000))(
    'selects its step and nothing else, however it was printed',
    (addresses, tags) => {
      const select = selecting(addresses, tags);
      for (const address of addresses) {
        expect(select(address)).toEqual([address]);
        expect(select(writeName(address))).toEqual([address]);
        // What is shown differs where a character takes no room; two such addresses may be shown alike.
        if (!addresses.includes(safeText(address))) expect(select(safeText(address))).toHaveLength(1);
      }
    },
  );

  forAll([campaign], runs(1000))('means the same among others, with + around it, and with conditions', (addresses) => {
    const select = selecting(addresses, ['launch']);
    for (const address of addresses) {
      const name = writeName(address);
      expect(select(`+${name}+`)).toEqual([address]);
      expect(select(`tag:launch,${name}`)).toEqual([address]);
      expect(select(`${name},kind:image`)).toEqual([address]);
    }
    expect(new Set(select(addresses.map(writeName).join(' ')))).toEqual(new Set(addresses));
  });

  test('is written as it is where nobody could take it for something else', () => {
    const plain = ['logo', 'hero@lamp,1:1', 'share@NL-003,en/2', 'upload@assets:logo.png', 'hero@a+b', "hero@l'été"];
    expect(plain.map(writeName)).toEqual(plain);
    const quoted = ['a b', 'hero@a+', 'hero@x,kind:image', 'hero@*', 'kind:x', 'a,b', '"q"'];
    expect(quoted.map(writeName)).toEqual(quoted.map((name) => JSON.stringify(name)));
  });
});

describe('a name that stands by itself', () => {
  const known: Named[] = ['hero', 'hero@a', 'hero@a,1:1', 'hero@a,9:16', 'song/1', 'song/2', 'old @*'].map(
    (address) => ({
      address,
      task: taskOfAddress(address),
    }),
  );
  const find = (text: string) =>
    findNamed(
      readName(text, (one) => known.some(({ address }) => address === one)),
      known,
    ).map(({ address }) => address);

  test.each([
    ['hero', ['hero']],
    ['hero@a', ['hero@a']],
    ['hero@a,*', ['hero@a,1:1', 'hero@a,9:16']],
    ['hero@*,1:1', ['hero@a,1:1']],
    ['song', ['song/1', 'song/2']],
    ['old @*', ['old @*']],
    ['"old @*"', ['old @*']],
    ['"hero@a"', ['hero@a']],
    ['"hero@*"', []],
    ['hero+', []],
  ])('%s', (text, addresses) => {
    expect(find(text)).toEqual(addresses);
  });

  test.each([
    ['hero@a,1:2', ['hero@a,1:1']],
    ['hreo@a,9:16', ['hero@a,9:16']],
    ['nothing', []],
  ])('near %s there are %j', (text, names) => {
    expect(nearNames(text, known)).toEqual(expect.arrayContaining(names));
    if (names.length === 0) expect(nearNames(text, known)).toEqual([]);
  });
});

const compare = (bought: OpenRequest, paidRequest: OpenRequest, facts: ChangeFacts & { request?: OpenRequest } = {}) =>
  findChanges(bought, { address: 'a', paidRequest, ...(facts.request && { request: facts.request }) }, facts);
const told = (...of: Parameters<typeof compare>) => describeChanges(compare(...of).changes);
const output = (of: string) => ({ $ref: of, field: 'url' });

test.each<[string, OpenRequest, OpenRequest, string]>([
  ['nothing that can be seen', { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }, 'an input changed'],
  ['a field more', {}, { seed: 1 }, 'seed is new'],
  ['a text in place of a number', { size: 2 }, { size: '2k' }, 'size: 2 → 2k'],
  ['a longer list', { images: ['a'] }, { images: ['a', 'b'] }, 'images: 1 → 2 items'],
  ['an item of a list', { images: ['a', 'b'] }, { images: ['a', 'c'] }, 'images.1: b → c'],
  ['words of a text', { prompt: 'on an oak table' }, { prompt: 'on an elm table' }, 'prompt: oak → elm'],
  [
    'several fields, in the order of their names',
    { z: 1, m: 'old', a: 1, same: 0 },
    { m: 'new', b: 1, z: 2, same: 0 },
    'a is gone; b is new; m: old → new; z: 1 → 2',
  ],
])('what changed between two requests: %s', (_name, bought, wanted, said) => {
  expect(told(bought, wanted)).toBe(said);
});

describe('outputs of steps, which no hash is shown for', () => {
  const addresses: { [fingerprint: string]: string } = { 'old hero': 'hero', 'old logo': 'logo' };
  const facts = { addressOf: (fingerprint: string) => addresses[fingerprint] };
  const bought = { image: output('old hero'), images: [output('old hero'), output('old logo')] };

  test('a step that is bought again is followed', () => {
    const paid = { image: output('new hero'), images: [output('new hero'), output('old logo')] };
    const request = { image: output('hero'), images: [output('hero'), output('logo')] };
    expect(compare(bought, paid, { ...facts, request })).toEqual({
      changes: [
        { field: 'image', cause: { is: 'step', name: 'hero' } },
        { field: 'images.0', cause: { is: 'step', name: 'hero' } },
      ],
      follows: ['hero'],
    });
    expect(told(bought, paid, { ...facts, request })).toBe('follows hero');
  });

  test('another step in its place is a change of the task itself', () => {
    const paid = { ...bought, image: output('old logo') };
    const request = { ...bought, image: output('logo') };
    expect(compare(bought, paid, { ...facts, request })).toEqual({
      changes: [{ field: 'image', before: 'hero', after: 'logo' }],
      follows: [],
    });
  });

  test('in texts and longer lists they have their names', () => {
    const text = (of: string) => ({ $text: ['like ', output(of), ', warm'] });
    expect(told({ prompt: text('old hero') }, { prompt: text('old logo') }, facts)).toBe('prompt: hero → logo');
    const more = { images: [output('old hero'), output('old logo'), output('old hero')] };
    expect(compare({ images: [] }, more, facts).changes).toEqual([
      { field: 'images', before: [], after: ['hero', 'logo', 'hero'] },
    ]);
  });

  test('a changed file is reported by its name', () => {
    const file = (sha256: string) => ({ file: { $sha256: sha256 } });
    const found = compare(file('a1'), file('b2'), { request: { file: 'assets/logo.png' } });
    expect(found.changes).toEqual([
      { field: 'file', before: 'a1', after: 'b2', cause: { is: 'file', name: 'assets/logo.png' } },
    ]);
    expect(describeChanges(found.changes)).toBe('assets/logo.png changed');
  });
});

test.each([
  [{ is: 'data', name: 'mood', file: 'products.csv', line: 14 }, 'products.csv:14 mood: warm → cold'],
  [{ is: 'variable', name: 'vars.mood', file: 'campaign.yaml', line: 3 }, 'vars.mood: warm → cold'],
  [{ is: 'default', name: 'defaults.image.prompt' }, 'defaults.image.prompt: warm → cold'],
  [{ is: 'template', name: 'tasks.hero.with.prompt' }, 'prompt: warm → cold'],
  [undefined, 'prompt: warm → cold'],
] as const)('what made it differ: %j', (cause, said) => {
  expect(told({ prompt: 'a warm day' }, { prompt: 'a cold day' }, { causeOf: () => cause })).toBe(said);
});

describe('two versions of a campaign', () => {
  const before = graphOfSteps([song('a'), picture('b'), picture('c', { request: { referenceImages: [urlOf('b')] } })]);
  const after = graphOfSteps([
    { ...song('z'), request: song('a').request },
    picture('b', { request: { prompt: 'a red b' } }),
    picture('c', { request: { prompt: 'c', referenceImages: [urlOf('b')] } }),
    song('new'),
  ]);
  const [a, b] = [stepOf(before, 'a'), stepOf(before, 'b')];

  it('say what moved, what changed with its words, what follows it, and what is new', () => {
    const { steps } = compareVersions({ graph: before, lock: emptyLock() }, { graph: after, lock: emptyLock() });
    expect(steps.map(({ change, address, text }) => `${change} ${address}: ${text}`)).toEqual([
      'moved z: was a',
      'changed b: prompt: “b” → “a red b”',
      'changed c: follows b',
      'added new: new',
    ]);
  });

  it.each<[string, Lock, Lock, number]>([
    ['what is bought and asked for no more', lockOf({ b: [saved(b)] }), lockOf({ b: [saved(b)] }), 4],
    ['also where the lock here does not know of it', lockOf({ b: [saved(b)] }), emptyLock(), 4],
    ['not what has another address now', lockOf({ a: [saved(a)] }), lockOf({ a: [saved(a)] }), 0],
    ['not what was given up there already', lockOf({ gone: [saved(b, { fingerprint: '1:gone' })] }), emptyLock(), 0],
  ])('give up paid work: %s', (_name, there, here, discarded) => {
    expect(compareVersions({ graph: before, lock: there }, { graph: after, lock: here }).discarded).toBe(discarded);
  });
});

describe('the words that differ', () => {
  test.each([
    ['A lamp on an oak table, warm light', 'A lamp on an elm table, warm light', 'oak → elm'],
    ['on a table', 'on a red table', '“a table” → “a red table”'],
    ['a very old lamp here', 'a lamp here', '“a very old lamp” → “a lamp”'],
    ['a b c d e f g', 'A b C d E f G', 'a b c d e … → A b C d E …'],
    ['x one two three four five six seven', 'x 1', 'one two three four five … → 1'],
    ['a lamp, no text', 'a lamp, no text, soft colours', '“text” → “text, soft colours”'],
    ['two  spaces', 'two spaces', 'white space'],
    ['木の机のランプ', '石の机のランプ', '木 → 石'],
  ])('%s | %s', (before, after, told) => {
    expect(describeChange({ field: 'prompt', before, after })).toBe(`prompt: ${told}`);
  });

  test('texts of thousands of words take no time', () => {
    const long = (seed: string) => Array.from({ length: 20_000 }, (_, index) => `${seed}${index}`).join(' ');
    expect(describeChange({ field: 'prompt', before: long('a'), after: long('b') })).toBe(
      'prompt: a0 a1 a2 a3 a4 … → b0 b1 b2 b3 b4 …',
    );
  });
});
