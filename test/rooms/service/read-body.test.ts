import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readBody } from '../../../src/service/download.ts';

const { signal } = new AbortController();

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('a minute of silence, while more is waited for, ends a body', async () => {
  const stream = new PassThrough();
  const body = readBody(stream, { signal });
  const first = body.next();
  vi.advanceTimersByTime(59_999);
  stream.write('late');
  expect(String((await first).value)).toBe('late');
  // Nobody waits: its reader has other things to do.
  vi.advanceTimersByTime(600_000);
  const second = body.next();
  vi.advanceTimersByTime(59_999);
  stream.write('later');
  expect(String((await second).value)).toBe('later');
  const third = body.next();
  vi.advanceTimersByTime(60_000);
  await expect(third).rejects.toThrow('nothing came for 60 s');
  await expect(body.next()).rejects.toThrow('nothing came for 60 s');
  expect(stream.destroyed).toBe(true);
});

test('a body that drips for a minute is given up; a faster one, or one with a slow reader, may take any time', async () => {
  const read = async (bytesPerSecond: number, readerMs = 0) => {
    let now = 0;
    const stream = new PassThrough();
    const body = readBody(stream, { signal, now: () => now });
    for (let second = 1; second <= 180; second += 1) {
      const chunk = body.next();
      now += 1000;
      stream.write(Buffer.alloc(bytesPerSecond));
      await chunk;
      now += readerMs;
    }
  };
  await expect(read(990)).rejects.toThrow('slower than 1000 bytes a second');
  await read(1001);
  await read(1001, 61_000);
});

test('what came before it was asked for is held up to a limit, and then its sender', async () => {
  const stream = new PassThrough({ highWaterMark: 1 << 20 });
  const body = readBody(stream, { signal });
  for (let count = 0; count < 10; count += 1) stream.write(Buffer.alloc(100_000, String(count)));
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  // What is not held here stays where a socket would stop reading.
  expect(stream.readableLength).toBeGreaterThan(500_000);
  stream.end();
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  expect(bytes).toBe(1_000_000);
  expect(await body.next()).toEqual({ done: true, value: undefined });
});

test('a stream that breaks between two chunks never looks whole', async () => {
  const stream = new PassThrough();
  const body = readBody(stream, { signal });
  stream.write('half');
  expect(String((await body.next()).value)).toBe('half');
  stream.destroy(new Error('cut'));
  await expect(body.next()).rejects.toThrow('cut');
  await expect(body.next()).rejects.toThrow('cut');
  const other = new PassThrough();
  const unread = readBody(other, { signal });
  other.destroy();
  await expect(unread.next()).rejects.toThrow('it ended early');
});
