import { describe, expect, test } from 'vitest';
import type { OpenRequest } from '../../../src/graph/graph.ts';
import { takeKeptBody } from '../../../src/run/kept-body.ts';

const link = 'https://example.com/a.png?sig=1';
const logo = { $ref: 'logo' };
const request = {
  prompt: 'a lamp',
  model: 'alpha-2',
  seed: 7,
  referenceImages: [logo, 'https://example.com/fixed.png', { $ref: 'hero@de' }],
  style: { $text: ['like ', logo, ' and ', { $ref: 'hero@de', field: 'title' }, '!'] },
} as unknown as OpenRequest;
const sent = {
  prompt: 'a lamp',
  model: 'alpha-2',
  seed: 7,
  referenceImages: [link, 'https://example.com/fixed.png', link],
  style: `like ${link} and words!`,
};

const take = (body: unknown, of: OpenRequest = request) => takeKeptBody(of, JSON.stringify(body)) !== undefined;

describe('a kept body', () => {
  test('is taken when only the values of other steps were filled in', () => {
    expect(take(sent)).toBe(true);
    expect(take({ ...sent, referenceImages: ['https://example.com/fixed.png', link] })).toBe(true);
    expect(take({ ...sent, referenceImages: [link, 'https://example.com/fixed.png'] })).toBe(true);
    expect(take({ ...sent, referenceImages: ['https://example.com/fixed.png'] })).toBe(true);
    expect(takeKeptBody(request, undefined)).toBeUndefined();
  });

  test.each<[string, object]>([
    ['another text', { prompt: 'a car' }],
    ['another model', { model: 'alpha-9' }],
    ['another number', { seed: 8 }],
    ['a number as a text', { seed: '7' }],
    ['something more', { resolution: '8k' }],
    ['something that stands for nothing', { ['__proto__']: { resolution: '8k' } }],
    ['something less', { model: undefined }],
    ['more in a list', { referenceImages: [...sent.referenceImages, link] }],
    ['another fixed link', { referenceImages: [link, 'https://example.com/theirs.png', link] }],
    ['a list turned round', { referenceImages: ['https://example.com/fixed.png', link, link] }],
    ['no list', { referenceImages: { 0: link, 1: 'https://example.com/fixed.png', 2: link } }],
    ['a list for a link', { referenceImages: [[link], 'https://example.com/fixed.png', link] }],
    ['a file for a link', { referenceImages: ['file:///etc/passwd', 'https://example.com/fixed.png', link] }],
    ['other words around a value', { style: `as ${link} and words!` }],
    ['words after a value', { style: `like ${link} and words! And a car` }],
    ['words that overlap', { style: 'like ! and !'.slice(0, 9) }],
  ])('is not taken with %s', (_, difference) => {
    expect(take({ ...sent, ...difference })).toBe(false);
  });

  test.each(['', 'null', '[]', '"a lamp"', '{', '7', `${'['.repeat(100_000)}${']'.repeat(100_000)}`])(
    'is no body of this request: %$',
    (text) => {
      expect(takeKeptBody(request, text)).toBeUndefined();
    },
  );

  test('of a request without values of other steps is that very request', () => {
    const plain: OpenRequest = { prompt: 'a', list: [1, null, true] };
    expect(take({ prompt: 'a', list: [1, null, true] }, plain)).toBe(true);
    expect(take({ prompt: 'a', list: [1, null] }, plain)).toBe(false);
    expect(take({ prompt: 'a', list: [1, 0, true] }, plain)).toBe(false);
  });
});
