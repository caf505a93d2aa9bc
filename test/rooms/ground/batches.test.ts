import { expect, test } from 'vitest';
import { Batches } from '../../../src/ground/batches.ts';
import { Places } from '../../../src/ground/places.ts';

test('what waits shares a write, in order and up to a number; a failure is told to its own batch alone', async () => {
  const written: string[][] = [];
  const batches = new Batches<string>({
    async write(items) {
      written.push([...items]);
      if (items.includes('bad')) throw new Error('no space left');
    },
    most: 2,
  });
  const added = ['one', 'two', 'bad', 'worse', 'last'].map((item) => batches.add(item));
  expect(batches.waiting).toBe(5);
  const ends = await Promise.allSettled(added);
  expect(written).toEqual([['one', 'two'], ['bad', 'worse'], ['last']]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled']);
  await batches.idle();
  expect(batches.waiting).toBe(0);
});

test('work waits for a place in order, and no longer than its signal lasts', async () => {
  const places = new Places(1);
  let end = () => {};
  const first = places.use(() => new Promise<void>((resolve) => (end = resolve)));
  const patience = new AbortController();
  const impatient = places.use(async () => 'never', patience.signal);
  const third = places.use(async () => 'third');
  expect([places.free, places.waiting]).toEqual([0, 2]);
  patience.abort();
  await expect(impatient).rejects.toThrow();
  end();
  expect([await first, await third]).toEqual([undefined, 'third']);
  expect([places.free, places.waiting]).toEqual([1, 0]);
});
