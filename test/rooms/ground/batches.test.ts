import { expect, test } from 'vitest';
import { Batches } from '../../../src/ground/batches.ts';
import { Places } from '../../../src/ground/places.ts';

test('what waits shares a write, in order and up to a size; a failure is told to its own batch alone', async () => {
  const written: string[][] = [];
  const batches = new Batches<string>({
    async write(items) {
      written.push([...items]);
      if (items.includes('bad')) throw new Error('no space left');
    },
    sizeOf: ({ length }) => length,
    mostSize: 6,
  });
  const added = ['one', 'two', 'bad', 'much too long'].map((item) => batches.add(item));
  expect(batches.waiting).toBe(4);
  const ends = await Promise.allSettled(added);
  expect(written).toEqual([['one', 'two'], ['bad'], ['much too long']]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
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

test('nobody comes into places that are closed, and who closes them waits until everybody has left', async () => {
  const places = new Places(2);
  const [first, second] = [await places.take(), await places.take()];
  const entered: string[] = [];
  const third = places.take().then((leave) => {
    entered.push('third');
    return leave;
  });
  const closed = places.close().then((open) => {
    entered.push('closer');
    return open;
  });
  first();
  await Promise.resolve();
  expect([entered, places.waiting]).toEqual([[], 1]);
  second();
  const open = await closed;
  expect([entered, places.waiting]).toEqual([['closer'], 1]);
  open();
  (await third)();
  expect(entered).toEqual(['closer', 'third']);
});
