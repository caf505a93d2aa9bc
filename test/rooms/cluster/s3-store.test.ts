import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseS3 } from '../../../src/cluster/store/s3.ts';
import { openStore } from '../../../src/cluster/store/store.ts';
import type { Clock } from '../../../src/contract/clock.ts';
import { BucketStandIn, type BucketTrouble, bucketEnv } from '../../rig/bucket-stand-in.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listenHere } from '../../rig/listen.ts';
import { jpeg, png } from '../disk/media.ts';
import { chunks, failure, recorded, sha256, target } from '../disk/targets.ts';

const name = 's3://media/team 1';
const marker = 'media/team 1/.mediabatch/store.json';

/** Pauses take no time, and are counted. */
function quick() {
  const pauses: number[] = [];
  const sleep = async (ms: number) => {
    pauses.push(ms);
  };
  return { pauses, clock: { now: Date.now, random: () => 1, sleep } satisfies Clock };
}

async function openFiles() {
  const bucket = await BucketStandIn.start();
  const { clock, pauses } = quick();
  const store = await openStore(name, { makes: true, env: bucket.env, clock });
  bucket.asked.length = 0;
  const at = (path: string) => bucket.objects.get(`media/team 1/shop/${path}`);
  const writes = () => bucket.asked.filter(({ method }) => method !== 'GET' && method !== 'HEAD').length;
  return { bucket, pauses, files: store.filesOf('shop'), at, writes };
}

/** A picture of this many bytes. */
function large(bytes: number): Buffer {
  const body = Buffer.alloc(bytes - png.length);
  for (let at = 0; at < body.length; at += 4096) body.writeUInt32LE(at, at);
  return Buffer.concat([png.subarray(0, 20), body, png.subarray(20)]);
}

async function bytesOf(body: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body ?? []) parts.push(part);
  return Buffer.concat(parts);
}

it.each([
  ['s3://media', { bucket: 'media', prefix: '' }],
  ['s3://media/', { bucket: 'media', prefix: '' }],
  ['s3://my.media-1/a//b/', { bucket: 'my.media-1', prefix: 'a/b/' }],
  ['s3://media/../other', undefined],
  ['s3://Media', undefined],
  ['s3:media', undefined],
  ['s3://a b/c', undefined],
])('the name of a bucket: %s', (text, place) => {
  expect(parseS3(text)).toEqual(place);
});

describe('a bucket as a store', () => {
  it('is known by its marker, which only a submit makes', async () => {
    const { env, objects } = await BucketStandIn.start();
    const failure = { code: 'MB3705', message: expect.stringContaining('has no .mediabatch/store.json') };
    await expect(openStore(name, { makes: false, env })).rejects.toMatchObject({ failure });
    expect(objects.size).toBe(0);
    const made = await openStore(name, { makes: true, env });
    expect(made.id).toMatch(/^[0-9a-f]{16}$/);
    expect((await openStore(name, { makes: false, env })).id).toBe(made.id);
    expect((await openStore('s3://media/other', { makes: true, env })).id).not.toBe(made.id);
    objects.set(marker, { bytes: Buffer.from('{"id":"../../x"}'), headers: {} });
    const damaged = { failure: { message: expect.stringContaining('contains a damaged') } };
    await expect(openStore(name, { makes: true, env })).rejects.toMatchObject(damaged);
  });

  it.each([true, false])('has one marker where two clients make it (storage knows conditions: %s)', async (knows) => {
    const bucket = await BucketStandIn.start();
    bucket.knowsConditions = knows;
    const { env } = bucket;
    if (!knows) {
      expect((await openStore(name, { makes: true, env })).id).toMatch(/^[0-9a-f]{16}$/);
      return;
    }
    const open = () => openStore(name, { makes: true, env });
    const stores = await Promise.all([open(), open(), open(), open()]);
    expect(new Set(stores.map(({ id }) => id)).size).toBe(1);
  });

  it.each<[string, NodeJS.Dict<string>, string]>([
    ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'other' }, 'SignatureDoesNotMatch: no, said the storage (HTTP 403)'],
    ['a wrong key', { AWS_ACCESS_KEY_ID: 'other' }, 'InvalidAccessKeyId'],
    ['no secret', { AWS_SECRET_ACCESS_KEY: '' }, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set'],
    ['no address', { AWS_ENDPOINT_URL_S3: 'storage:9000' }, 'AWS_ENDPOINT_URL_S3 is "storage:9000"'],
    ['nobody there', { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' }, '127.0.0.1:1 does not answer'],
  ])('is refused with %s, and nobody reads a secret', async (_what, change, says) => {
    const { env } = await BucketStandIn.start();
    const error = await openStore(name, { makes: true, env: { ...env, ...change }, clock: quick().clock }).catch(
      (refused: unknown) => refused,
    );
    expect(error).toMatchObject({ failure: { code: 'MB3705', message: expect.stringContaining(says) } });
    expect(JSON.stringify((error as { failure: object }).failure)).not.toContain(String(env.AWS_SECRET_ACCESS_KEY));
  });
});

it('a bucket keeps marks of runs beside its marker', async () => {
  const bucket = await BucketStandIn.start();
  const store = await openStore(name, { makes: true, env: bucket.env, clock: quick().clock });
  expect(await store.readMark('r-1')).toBeUndefined();
  await store.writeMark('r-1', 'one');
  await store.writeMark('r-1', 'two');
  expect(await store.readMark('r-1')).toBe('two');
  expect([...bucket.objects.keys()]).toContain('media/team 1/.mediabatch/runs/r-1.json');
});

describe('a file for a bucket', () => {
  it('becomes an object with its digest, once, whatever its name is', async () => {
    const { files, at, writes } = await openFiles();
    const one = target({ save: "bilder/größe + (1)! 'x'" });
    const save = () => files.save(one, { body: chunks(png), bytes: png.length });
    const output = await save();
    expect(output).toEqual(recorded("bilder/größe + (1)! 'x'.png", png));
    const headers = { 'content-type': 'image/png', 'x-amz-meta-sha256': sha256(png) };
    expect(at(output.path)).toEqual({ bytes: png, headers });
    expect(await save()).toEqual(output);
    expect(writes()).toBe(1);
    expect(one.notices).toEqual([]);
    expect((await bytesOf(await files.read(output))).equals(png)).toBe(true);
    expect(await files.read({ ...output, path: 'no.png' })).toBeUndefined();
  });

  it('that is bad, or would leave the store, asks nothing of the storage and leaves nothing here', async () => {
    const folder = makeFolder();
    vi.stubEnv('TMPDIR', folder);
    const { bucket, files } = await openFiles();
    const cut = { body: chunks(png.subarray(0, 30)), bytes: png.length };
    expect(await failure(files.save(target(), cut))).toMatchObject({ why: 'bad-bytes' });
    for (const save of ['../other/hero', '/hero', '.git/hooks/x', 'a/../../b', '.mediabatch/store']) {
      expect(await failure(files.save(target({ save }), { body: chunks(png) })), save).toMatchObject({ why: 'path' });
      const from = recorded(`${save}.png`, png);
      expect(await failure(files.relocate(target(), from)), save).toMatchObject({ why: 'path' });
    }
    expect(bucket.asked).toEqual([]);
    await files.save(target(), { body: chunks(png) });
    expect(readdirSync(folder)).toEqual([]);
    vi.unstubAllEnvs();
  });

  it('does not replace another one of its name', async () => {
    const { files, at } = await openFiles();
    const second = target({ save: 'hero', replaces: [sha256(png)] });
    await files.save(target({ save: 'hero' }), { body: chunks(png) });
    const other = Buffer.concat([png.subarray(0, 30), Buffer.from('x'), png.subarray(30)]);
    await files.save(second, { body: chunks(other) });
    expect(at('hero.png')?.bytes.equals(other)).toBe(true);
    const aside = `hero.changed-${sha256(png).slice(0, 8)}.png`;
    expect(at(aside)?.bytes.equals(png)).toBe(true);
    expect(second.notices).toEqual([]);
    const third = target({ save: 'hero', replaces: [sha256(png)] });
    await files.save(third, { body: chunks(png) });
    expect(third.notices).toEqual([
      `s3://media/team 1: hero.png was not made by this step or was changed since; it was renamed to hero.changed-${sha256(other).slice(0, 8)}.png`,
    ]);
  });

  it('does not come where the one that it replaces cannot be set aside', async () => {
    const { bucket, files, at } = await openFiles();
    await files.save(target({ save: 'hero', media: 'image' }), { body: chunks(png) });
    bucket.trouble = ({ url }) => (url.includes('changed-') ? { status: 403, code: 'QuotaExceeded' } : undefined);
    const other = Buffer.concat([png.subarray(0, 30), Buffer.from('x'), png.subarray(30)]);
    expect(await failure(files.save(target({ save: 'hero' }), { body: chunks(other) }))).toMatchObject({ why: 'disk' });
    expect(at('hero.png')?.bytes.equals(png)).toBe(true);
  });

  it('gets another name only if it is what is on record', async () => {
    const { files, at } = await openFiles();
    const from = await files.save(target({ save: 'a', media: 'image' }), { body: chunks(jpeg) });
    expect(await files.relocate(target({ save: 'b/c' }), from)).toEqual({ ...from, path: 'b/c.jpg' });
    expect(at('b/c.jpg')?.bytes.equals(jpeg)).toBe(true);
    expect(await files.relocate(target({ save: 'd' }), { ...from, sha256: sha256(png) })).toBeUndefined();
    expect(await files.relocate(target({ save: 'd' }), { ...from, path: 'gone.jpg' })).toBeUndefined();
    expect(at('d.jpg')).toBeUndefined();
  });

  it('that is large is read from the disk again for each try', async () => {
    const { bucket, files, at, pauses } = await openFiles();
    const bytes = large(20_000_000);
    const troubles: BucketTrouble[] = ['break', { status: 503, code: 'SlowDown' }];
    bucket.trouble = ({ method }) => (method === 'PUT' ? troubles.pop() : undefined);
    const output = await files.save(target({ save: 'film' }), { body: chunks(bytes), bytes: bytes.length });
    expect(pauses).toHaveLength(2);
    expect(at('film.png')?.bytes.equals(bytes)).toBe(true);
    expect(at('film.png')?.headers['x-amz-meta-sha256']).toBe(output.sha256);
  });

  it.each([403, 200])('that the storage does not take (HTTP %i) stops spending, and has no name', async (status) => {
    const { bucket, files, at } = await openFiles();
    bucket.trouble = ({ method }) => (method === 'PUT' ? { status, code: 'QuotaExceeded' } : undefined);
    const error = await failure(files.save(target({ save: 'film' }), { body: chunks(png) }));
    expect(error).toMatchObject({ why: 'disk' });
    expect(error.message).toBe(
      `s3://media/team 1: cannot reach film.png: the storage answered QuotaExceeded: no, said the storage (HTTP ${status})`,
    );
    expect(at('film.png')).toBeUndefined();
  });

  it('waits for a storage that is away for a while, and not for ever', async () => {
    const { bucket, files, at, pauses } = await openFiles();
    let left = 7;
    bucket.trouble = () => (left-- > 0 ? { status: 503, code: 'SlowDown' } : undefined);
    await files.save(target(), { body: chunks(png) });
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 20_000]);
    expect(at('images/hero.png')).toBeDefined();
    bucket.trouble = () => 'break';
    expect(await failure(files.save(target({ save: 'b' }), { body: chunks(png) }))).toMatchObject({ why: 'disk' });
    expect(bucket.asked).toHaveLength(9 + 8);
  });
});

it('reaches a bucket by https through the proxy of the environment', async () => {
  const asked: unknown[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    asked.push(url);
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  vi.stubEnv('HTTPS_PROXY', await listenHere(proxy));
  onTestFinished(() => void vi.unstubAllEnvs());
  const env = { ...bucketEnv, AWS_ENDPOINT_URL_S3: 'https://storage.example' };
  const opening = openStore(name, { makes: true, env, clock: quick().clock });
  await expect(opening).rejects.toThrow(
    /storage\.example does not answer: the proxy 127\.0\.0\.1:\d+ requires credentials/,
  );
  expect(new Set(asked)).toEqual(new Set(['storage.example:443']));
});
