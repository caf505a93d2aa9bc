import { describe, expect, test } from 'vitest';
import { listLacking, listRequest, markWords } from '../../../src/page/details/request-rows.ts';

/** `[…]` around what differs. */
const marked = (text: string, ...others: string[]) =>
  markWords(text, others)
    .map((stretch) => (stretch.differs ? `[${stretch.text}]` : stretch.text))
    .join('');

describe('words that differ', () => {
  test.each([
    ['a lamp on oak', ['a lamp on elm'], 'a lamp on [oak]'],
    ['a lamp on dark oak, evening', ['a lamp on elm, evening'], 'a lamp on [dark oak], evening'],
    ['a lamp', ['a lamp'], 'a lamp'],
    ['a lamp', [], 'a lamp'],
    ['a lamp', ['a big lamp'], 'a lamp'],
    ['one two three', ['one 2 three', 'one two 3'], 'one [two three]'],
    ['', ['x'], ''],
    ['warm', ['cold'], '[warm]'],
  ])('%s', (text, others, wanted) => {
    expect(marked(text, ...others)).toBe(wanted);
  });

  test('a text of ten thousand words is not compared word by word between its ends', () => {
    const long = Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(' ');
    expect(marked(`same ${long} end`, `same ${long.replaceAll('w', 'v')} end`)).toBe(`same [${long}] end`);
  });
});

describe('a request as a list', () => {
  const own = {
    model: 'alpha',
    prompt: 'a lamp, warm',
    with: { seed: 1 },
    images: [{ $ref: 'hero@lamp', field: 'url' }],
  };

  test('names each value by its path, texts and model first, and marks what differs', () => {
    const other = { ...own, prompt: 'a lamp, cold', images: [{ $ref: 'hero@rug', field: 'url' }] };
    expect(listRequest(own, [other])).toEqual([
      {
        path: 'prompt',
        value: {
          is: 'text',
          stretches: [
            { text: 'a lamp, ', differs: false },
            { text: 'warm', differs: true },
          ],
        },
        differs: true,
      },
      { path: 'model', value: { is: 'text', stretches: [{ text: 'alpha', differs: false }] }, differs: false },
      { path: 'with.seed', value: { is: 'text', stretches: [{ text: '1', differs: false }] }, differs: false },
      { path: 'images[0]', value: { is: 'step', address: 'hero@lamp', field: 'url' }, differs: true },
    ]);
  });

  test('marks what others do not have, and names what they alone have', () => {
    const other = { model: 'alpha', tags: [], with: { seed: 1, style: 'flat' } };
    expect(
      listRequest(own, [other])
        .filter(({ differs }) => differs)
        .map(({ path }) => path),
    ).toEqual(['prompt', 'images[0]']);
    expect(listLacking(own, [other])).toEqual(['tags', 'with.style']);
    expect(listRequest({}, [])).toEqual([]);
  });
});
