import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { readBodyText, toDocumented } from '../../../src/service/lenient.ts';

const text = '{"success":true}';
const bytes = Buffer.from(text);

test.each([
  ['gzip', 'gzip', gzipSync(bytes)],
  ['gzip without its header', undefined, gzipSync(bytes)],
  ['deflate', 'deflate', deflateSync(bytes)],
  ['raw deflate', 'deflate', deflateRawSync(bytes)],
  ['brotli', 'br', brotliCompressSync(bytes)],
  ['two of them', 'gzip, br', brotliCompressSync(gzipSync(bytes))],
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
