import { expect, test } from 'vitest';
import { keepDurations, readKeptDurations } from '../../../src/disk/state/kept-durations.ts';
import { writeSealedFile } from '../../../src/disk/state/sealed-file.ts';
import { makeFolder } from './folder.ts';

const durations = 'durations.json';

const keep = async (numbers: unknown) => {
  const state = makeFolder();
  await writeSealedFile(state, durations, JSON.stringify({ version: 1, durations: numbers }));
  return readKeptDurations({ state, durations });
};

test('what was seen is known the next time', async () => {
  const state = makeFolder();
  expect(await readKeptDurations({ state, durations })).toEqual({});
  await keepDurations({ state, durations }, { image: [1000, 2000.5] });
  expect(await readKeptDurations({ state, durations })).toEqual({ image: [1000, 2000.5] });
  await keepDurations({ state, durations }, {});
  expect(await readKeptDurations({ state, durations })).toEqual({ image: [1000, 2000.5] });
});

const week = 7 * 86_400_000;

test.each<[unknown, object]>([
  [{ image: [1, -1, 0, 'x', null, 2] }, { image: [1, 0, 2] }],
  [{ image: [week - 1, week] }, { image: [week - 1] }],
  [
    { image: Array.from({ length: 101 }, (_, index) => index) },
    { image: Array.from({ length: 100 }, (_, at) => at + 1) },
  ],
  [{ image: 'x', video: [3], 'a\nb': [4], ü: [5], '': [6] }, { video: [3] }],
  [JSON.parse('{"__proto__":[1]}'), {}],
  ['x', {}],
  [null, {}],
])('of %j only durations count', async (numbers, known) => {
  expect(await keep(numbers)).toEqual(known);
});

test.each(['no JSON', '[]', '{"version":2,"durations":{"image":[1]}}', '['.repeat(100_000)])(
  'what cannot be used is as if it were not there: %.20s',
  async (text) => {
    const state = makeFolder();
    await writeSealedFile(state, durations, text);
    expect(await readKeptDurations({ state, durations })).toEqual({});
  },
);
