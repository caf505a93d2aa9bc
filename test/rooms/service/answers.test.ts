import { PassThrough } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { requireKind } from '../../../src/kinds/index.ts';
import { classifyCreate } from '../../../src/service/create.ts';
import { Body } from '../../../src/service/download.ts';
import { readResult } from '../../../src/service/fields.ts';
import { readBodyText, toDocumented } from '../../../src/service/http.ts';
import { hasMore, readPageSize } from '../../../src/service/listing.ts';

describe('read body', () => {
  const { signal } = new AbortController();

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('a minute of silence, while more is waited for, ends a body', async () => {
    const stream = new PassThrough();
    const body = new Body(stream, { signal });
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
    await expect(third).rejects.toThrow('no data arrived for 60 s');
    await expect(body.next()).rejects.toThrow('no data arrived for 60 s');
    expect(stream.destroyed).toBe(true);
  });

  test('a body that drips for a minute is given up; a faster one, or one with a slow reader, may take any time', async () => {
    const read = async (bytesPerSecond: number, readerMs = 0) => {
      let now = 0;
      const stream = new PassThrough();
      const body = new Body(stream, { signal, now: () => now });
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
    const body = new Body(stream, { signal });
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
    const body = new Body(stream, { signal });
    stream.write('half');
    expect(String((await body.next()).value)).toBe('half');
    stream.destroy(new Error('cut'));
    await expect(body.next()).rejects.toThrow('cut');
    await expect(body.next()).rejects.toThrow('cut');
    const other = new PassThrough();
    const unread = new Body(other, { signal });
    other.destroy();
    await expect(unread.next()).rejects.toThrow('it ended early');
    await expect(new Body(other, { signal }).next()).rejects.toThrow('it ended early');
  });
});

const text = '{"success":true}';
const bytes = Buffer.from(text);

test.each([
  ['gzip', 'gzip', gzipSync(bytes)],
  ['gzip without its header', undefined, gzipSync(bytes)],
  ['deflate', 'deflate', deflateSync(bytes)],
  ['deflate without a header of its own', 'deflate', deflateRawSync(bytes)],
  ['brotli', 'br', brotliCompressSync(bytes)],
  ['gzip, named otherwise', 'br', gzipSync(bytes)],
  ...['gzip', 'deflate', 'br', 'aws-chunked'].map((named): [string, string, Buffer] => [
    `none, and ${named} named`,
    named,
    bytes,
  ]),
  ['none, named', 'identity', bytes],
  ['a byte order mark', undefined, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])],
])('reads an answer in %s', (_name, encoding, body) => {
  expect(readBodyText(body, encoding, 1000)).toBe(text);
});

test('refuses an answer that is too long once it is decompressed', () => {
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  expect(() => readBodyText(bomb, 'gzip', 10_000)).toThrow();
});

const base = new URL('https://api.example/api/v1');
const documented = (json: Json) => {
  toDocumented(json, base);
  return json;
};

test.each([
  ['Completed', { status: 'COMPLETED' }],
  ['SUCCEEDED', { status: 'COMPLETED' }],
  ['processing', { status: 'PROCESSING' }],
  ['Canceled', { status: 'FAILED', error: 'canceled at the service' }],
  ['RENDERING', { status: 'RENDERING' }],
])('reads the state %s', (status, expected) => {
  expect(documented({ data: { status } })).toEqual({ data: expected });
});

test('keeps the reason of a canceled job', () => {
  expect(documented({ data: { status: 'CANCELLED', error: 'by its owner' } })).toEqual({
    data: { status: 'FAILED', error: 'canceled at the service: by its owner' },
  });
});

test.each<[Json, Json]>([
  [{ id: 4711 }, { id: '4711' }],
  [{ jobId: 0 }, { jobId: '0' }],
  // Its last digits are lost already.
  [{ id: 2 ** 53 }, { id: 2 ** 53 }],
  [{ id: 1.5 }, { id: 1.5 }],
  [{ outputUrl: '/files/x.png' }, { outputUrl: 'https://api.example/files/x.png' }],
  [{ outputAsset: { url: '//cdn.example/x.png' } }, { outputAsset: { url: 'https://cdn.example/x.png' } }],
  [{ outputUrl: ['https://a.example/x'] }, { outputUrl: 'https://a.example/x' }],
  [{ outputUrl: 'data:image/png;base64,AA' }, { outputUrl: 'data:image/png;base64,AA' }],
  [
    { prompt: '/files', order: 1 },
    { prompt: '/files', order: 1 },
  ],
])('rewrites %j', (json, expected) => {
  expect(documented({ data: [json] })).toEqual({ data: [expected] });
});

const page = (pagination: Json): Json => ({ pagination });

test.each<[Json, boolean]>([
  [page({ hasNextPage: true }), true],
  [page({ hasNextPage: false, totalPages: 9 }), false],
  [page({ totalPages: 3 }), true],
  [page({ totalPages: 2 }), false],
  [page({ totalPages: '2' }), true],
  [page(null), true],
  [[], true],
])('behind the second page of %j are others: %s', (body, more) => {
  expect(hasMore(body, 2)).toBe(more);
});

test.each<[Json, number, number | undefined]>([
  [page({ hasNextPage: true, limit: 100 }), 20, 20],
  [page({ hasNextPage: true, limit: 100 }), 0, 100],
  [page({ hasNextPage: false, limit: 100 }), 20, 100],
  [page({ limit: 20 }), 20, 20],
  [page({ limit: 1 }), 0, 1],
  [page({ limit: 20.5 }), 20, undefined],
  [page(null), 20, undefined],
])('a page of %j with %i records has room for %j', (body, count, size) => {
  expect(readPageSize(body, count)).toBe(size);
});

const resultOf = (kind: string, data: { [key: string]: Json }) => readResult(requireKind(kind), data);

describe('what a finished job gives', () => {
  const [url, thumbnailUrl] = ['https://a/1', 'https://a/t'];

  test.each<[string, { [key: string]: Json }, object?]>([
    ['image', { outputUrl: url }, { url }],
    ['image', { outputUrl: '' }],
    ['image', {}],
    ['voiceover', { outputAsset: { url } }, { url }],
    ['video', { outputUrl: url, thumbnailUrl }, { url, thumbnailUrl }],
    ['video', { thumbnailUrl }],
    ['clipping', { clips: [] }],
    ['clipping', { clips: 'x' }],
    ['clipping', { clips: [{ id: 'a', order: 0 }] }],
  ])('%s from %j', (kind, data, values) => {
    expect(resultOf(kind, data)).toEqual(values && { values, files: [url] });
  });

  test('clips are taken in their own order, whatever the order of the answer', () => {
    const clip = (id: string, order: number) => ({ id, order, outputAsset: { url: `https://a/${id}` } });
    const files = ['https://a/a', 'https://a/b', 'https://a/c'];
    const ofClips = [...'abc'].flatMap((id, at) => [
      [`clips.${at}.url`, files[at]],
      [`clips.${at}.id`, id],
    ]);
    const values = { url: files[0], ...Object.fromEntries(ofClips) };
    expect(resultOf('clipping', { clips: [clip('c', 2), clip('a', 0), clip('b', 1)] })).toEqual({
      values,
      files,
      parts: 3,
    });
  });

  test('a hostile list is cut', () => {
    const clips = Array.from({ length: 5000 }, (_, order) => ({ order, outputAsset: { url: 'https://a/x' } }));
    expect(resultOf('clipping', { clips })?.parts).toBe(1000);
  });
});

describe('where the job stands in the answer to a create', () => {
  const answer = (kind: string, json: Json) =>
    classifyCreate({ is: 'answer', status: 200, headers: {}, json }, (text) => text, { kind: requireKind(kind) });
  const job = (jobId: string, more = {}) => ({ is: 'accepted', job: { jobId, credits: 3, balance: 9, ...more } });
  const money = { success: true, creditsDeducted: 3, creditsRemaining: 9 };

  test.each<[string, { [key: string]: Json }, unknown]>([
    ['video', { ...money, generation: { id: 'v1' } }, job('v1')],
    ['video', { ...money, data: { id: 'v2' } }, job('v2')],
    ['video', { ...money, id: 'v3' }, job('v3')],
    ['clipping', { ...money, data: { id: 'c1', status: 'QUEUED' } }, job('c1')],
    ['thumbnail', { ...money, data: { id: 'rec', jobId: 'j1' } }, job('j1', { recordId: 'rec' })],
    ['thumbnail', { ...money, data: { id: 'j1', jobId: 'j1' } }, job('j1')],
    ['post', { ...money, data: { id: 'p1' } }, job('p1')],
  ])('%s: %j', (kind, json, wanted) => {
    expect(answer(kind, json)).toEqual(wanted);
  });

  test.each<[string, Json]>([
    // Documented: nowhere else than in `generation`.
    ['image', { ...money, data: { id: 'x' } }],
    ['image', { ...money, id: 'x' }],
    ['video', { ...money }],
    ['video', { ...money, data: { id: '' } }],
    ['video', { ...money, data: { id: '../../x y' } }],
    ['video', [1, 2]],
  ])('%s without a usable id may have been charged: %j', (kind, json) => {
    expect(answer(kind, json)).toMatchObject({ is: 'ambiguous' });
  });
});
