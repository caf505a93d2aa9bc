import { describe, expect, test } from 'vitest';
import type { OpenRequest } from '../../../src/graph/graph.ts';
import { describeDifference } from '../../../src/plan/difference.ts';

const short = 'x'.repeat(32);
const phrase = (word: string) => `the ${word}${'x'.repeat(25)}`;
const intro = 'A quiet harbour at dawn, seen from the hill behind it, with';

describe('what changed between two requests', () => {
  test.each<[string, OpenRequest, OpenRequest, string]>([
    ['nothing that can be seen', { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }, 'an input changed'],
    ['a field more', {}, { seed: 1 }, 'seed is new'],
    ['a field less', { seed: null }, {}, 'seed is gone'],
    ['a number', { seed: 1 }, { seed: 2 }, 'seed changed: 1 → 2'],
    ['a truth', { loud: true }, { loud: false }, 'loud changed: true → false'],
    ['nothing in place of a text', { style: 'oil' }, { style: null }, 'style changed: oil → null'],
    ['a text in place of a number', { size: 2 }, { size: '2k' }, 'size changed: 2 → 2k'],
    ['a list', { images: ['a'] }, { images: ['a', 'b'] }, 'images changed'],
    ['a list in place of a text', { images: 'a' }, { images: ['a'] }, 'images changed'],
    ['a text in place of an object', { image: { $ref: 'a' } }, { image: 'a' }, 'image changed'],
    ['an object in place of null', { image: null }, { image: { $ref: 'a' } }, 'image changed'],
    [
      'several fields, in the order of their names',
      { z: 1, m: 'old', a: 1, same: 0 },
      { m: 'new', b: 1, z: 2, same: 0 },
      'a is gone; b is new; m changed: “old” → “new”; z changed: 1 → 2',
    ],
  ])('%s', (_name, bought, wanted, said) => {
    expect(describeDifference(bought, wanted)).toBe(said);
  });
});

describe('a text that changed', () => {
  test.each([
    ['is shown whole up to 32 characters', phrase('red'), phrase('sea'), phrase('red'), phrase('sea')],
    ['is cut after 32 characters where it differs at once', `a${short}`, 'b', `a${short.slice(1)}…`, 'b'],
    ['is cut where only the new one is long', 'b', `a${short}`, 'b', `a${short.slice(1)}…`],
    [
      'is shown from the first word that differs',
      `${intro} three boats`,
      `${intro} thirteen boats`,
      '…three boats',
      '…thirteen boats',
    ],
    [
      'is cut at both ends, where it is long enough',
      `${intro} three small boats and a lighthouse far away`,
      `${intro} three tall boats and a lighthouse`,
      '…small boats and a lighthouse far…',
      '…tall boats and a lighthouse',
    ],
    [
      'is not cut at its end where 32 characters are left',
      `${intro} ${short}`,
      `${intro} y${short}`,
      `…${short}`,
      `…y${short.slice(1)}…`,
    ],
    ['keeps its end where words were added', intro, `${intro} boats`, '…with', '…with boats'],
    ['keeps its end where words were taken away', `${intro} boats`, intro, '…with boats', '…with'],
  ])('%s', (_name, before, after, shownBefore, shownAfter) => {
    expect(describeDifference({ prompt: before }, { prompt: after })).toBe(
      `prompt changed: “${shownBefore}” → “${shownAfter}”`,
    );
  });
});
