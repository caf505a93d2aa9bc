import { expect, test } from 'vitest';
import { Slots } from '../../../src/cluster/worker/slots.ts';

/** A file under way, until it is told to end. */
function file() {
  let end = () => {};
  const work = () => new Promise<string>((resolve) => (end = () => resolve('fetched')));
  return { work, end: () => end() };
}

test('a file waits for its place, and no longer than it may', async () => {
  const slots = new Slots(1);
  const [first, second] = [file(), file()];
  const fetched = slots.useWithin(1000, first.work);
  expect(await slots.useWithin(10, second.work)).toBeUndefined();
  const waits = slots.useWithin(10_000, async () => 'second');
  expect(slots.free).toBe(0);
  first.end();
  expect([await fetched, await waits]).toEqual(['fetched', 'second']);
  expect(slots.free).toBe(1);
});

test('a file does not wait where the last ones tell that it would be in vain', async () => {
  let now = 0;
  const slots = new Slots(1, () => now);
  await slots.use(async () => {
    now += 5000;
  });
  const long = file();
  const fetched = slots.use(long.work);
  expect(await slots.useWithin(4000, async () => 'never')).toBeUndefined();
  const waits = slots.useWithin(6000, async () => 'second');
  long.end();
  expect([await fetched, await waits]).toEqual(['fetched', 'second']);
});

test('a file that fails gives its place to the next one', async () => {
  const slots = new Slots(1);
  const failed = slots.use(() => Promise.reject(new Error('broken')));
  const next = slots.use(async () => 'next');
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('next');
  expect(slots.free).toBe(1);
});

test('a worker without a store has no place for files', async () => {
  const slots = new Slots(0);
  expect(slots.free).toBe(0);
  expect(await slots.useWithin(10, async () => 'fetched')).toBeUndefined();
});
