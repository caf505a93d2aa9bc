import { describe, expect, test } from 'vitest';
import type { OpenRequest } from '../../../src/graph/graph.ts';
import { type ChangeFacts, describeChanges, findChanges } from '../../../src/plan/compare/changes.ts';

const compare = (bought: OpenRequest, paidRequest: OpenRequest, facts: ChangeFacts & { request?: OpenRequest } = {}) =>
  findChanges(bought, { address: 'a', paidRequest, ...(facts.request && { request: facts.request }) }, facts);
const told = (...of: Parameters<typeof compare>) => describeChanges(compare(...of).changes);
const output = (of: string) => ({ $ref: of, field: 'url' });

describe('what changed between two requests', () => {
  test.each<[string, OpenRequest, OpenRequest, string]>([
    ['nothing that can be seen', { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }, 'an input changed'],
    ['a field more', {}, { seed: 1 }, 'seed is new'],
    ['a field less', { seed: null }, {}, 'seed is gone'],
    ['a number', { seed: 1 }, { seed: 2 }, 'seed: 1 → 2'],
    ['a truth', { loud: true }, { loud: false }, 'loud: true → false'],
    ['nothing in place of a text', { style: 'oil' }, { style: null }, 'style: oil → null'],
    ['a text in place of a number', { size: 2 }, { size: '2k' }, 'size: 2 → 2k'],
    ['a longer list', { images: ['a'] }, { images: ['a', 'b'] }, 'images: 1 → 2 items'],
    ['an item of a list', { images: ['a', 'b'] }, { images: ['a', 'c'] }, 'images.1: b → c'],
    ['a list in place of a text', { images: 'a' }, { images: ['a'] }, 'images changed'],
    ['words of a text', { prompt: 'on an oak table' }, { prompt: 'on an elm table' }, 'prompt: oak → elm'],
    [
      'several fields, in the order of their names',
      { z: 1, m: 'old', a: 1, same: 0 },
      { m: 'new', b: 1, z: 2, same: 0 },
      'a is gone; b is new; m: old → new; z: 1 → 2',
    ],
  ])('%s', (_name, bought, wanted, said) => {
    expect(told(bought, wanted)).toBe(said);
  });
});

describe('outputs of steps, which no hash is shown for', () => {
  const addresses: { [fingerprint: string]: string } = { 'old hero': 'hero', 'old logo': 'logo' };
  const facts = { addressOf: (fingerprint: string) => addresses[fingerprint] };
  const bought = { image: output('old hero'), images: [output('old hero'), output('old logo')] };

  test('a step that is bought anew is followed', () => {
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

  test('a file is told by its name', () => {
    const file = (sha256: string) => ({ file: { $sha256: sha256 } });
    const found = compare(file('a1'), file('b2'), { request: { file: 'assets/logo.png' } });
    expect(found.changes).toEqual([
      { field: 'file', before: 'a1', after: 'b2', cause: { is: 'file', name: 'assets/logo.png' } },
    ]);
    expect(describeChanges(found.changes)).toBe('assets/logo.png changed');
  });
});

describe('what made it differ', () => {
  test.each([
    [{ is: 'data', name: 'mood', file: 'products.csv', line: 14 }, 'products.csv:14 mood: warm → cold'],
    [{ is: 'variable', name: 'vars.mood', file: 'campaign.yaml', line: 3 }, 'vars.mood: warm → cold'],
    [{ is: 'default', name: 'defaults.image.prompt' }, 'defaults.image.prompt: warm → cold'],
    [{ is: 'template', name: 'tasks.hero.with.prompt' }, 'prompt: warm → cold'],
    [undefined, 'prompt: warm → cold'],
  ] as const)('%j', (cause, said) => {
    expect(told({ prompt: 'a warm day' }, { prompt: 'a cold day' }, { causeOf: () => cause })).toBe(said);
  });

  test('is told once where several fields have it', () => {
    const cause = { is: 'data', name: 'mood', file: 'products.csv', line: 14 } as const;
    const [was, is] = ['warm', 'cold'].map((mood) => ({ prompt: `a ${mood} day`, title: `${mood}, in one word` }));
    expect(told(was ?? {}, is ?? {}, { causeOf: () => cause })).toBe('products.csv:14 mood: warm → cold');
  });
});
