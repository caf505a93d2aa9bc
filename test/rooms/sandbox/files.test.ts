import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { openRig } from './rig.ts';

const infinite = { speed: Number.POSITIVE_INFINITY, credits: 100_000 };

async function pictureOf(body: object): Promise<Buffer> {
  const rig = openRig(infinite);
  return rig.output('image', await rig.imageId(body));
}

describe('a picture has the size that was asked for', () => {
  test.each([
    [{ resolution: '1k' }, 1024, 1024],
    [{ resolution: '1k', aspectRatio: '16:9' }, 1360, 768],
    [{ resolution: '1k', aspectRatio: '9:16' }, 768, 1360],
    [{ resolution: '1k', aspectRatio: '21:9' }, 1568, 672],
    [{ resolution: '1k', aspectRatio: '1:8' }, 368, 2896],
    [{ resolution: '1k', aspectRatio: '8:1' }, 2896, 368],
    [{ aspectRatio: '4:5' }, 1824, 2288],
    [{ model: 'gamma-image-1.5', resolution: '1024x1536' }, 1024, 1536],
    [{ model: 'gamma-image-1.5', resolution: '2k' }, 1024, 1024],
    [{ model: 'beta-v5-lite', aspectRatio: '1:1' }, 1024, 1024],
    [{ model: 'beta-v5-lite', quality: 'high', aspectRatio: '1:1' }, 2048, 2048],
  ])('%o: %i × %i', async (fields, width, height) => {
    const picture = await sharp(await pictureOf({ prompt: 'a lamp', ...fields })).metadata();
    expect([picture.width, picture.height]).toEqual([width, height]);
  });
});

describe('a picture follows from its request', () => {
  const body = { prompt: 'a lamp', resolution: '1k' };

  test('the same request gives the same bytes, another prompt others', async () => {
    const first = await pictureOf(body);
    expect(first.equals(await pictureOf(body))).toBe(true);
    expect(first.equals(await pictureOf({ ...body, prompt: 'a lump' }))).toBe(false);
  });
});

describe('the file over HTTP', () => {
  const rig = openRig(infinite);
  let url = '';
  let whole: Buffer = Buffer.alloc(0);
  const get = async (headers: Record<string, string> = {}, method = 'GET') => {
    const response = await rig.sandbox.fetch(new Request(url, { method, headers }));
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  beforeAll(async () => {
    const id = await rig.imageId({ prompt: 'a lamp', resolution: '1k' });
    url = await rig.outputUrl('image', id);
    whole = await rig.output('image', id);
  });

  test('GET', async () => {
    const { response, bytes } = await get();
    expect(response.status).toBe(200);
    expect(bytes.equals(whole)).toBe(true);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-length')).toBe(String(whole.length));
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{32}"$/);
  });

  test('HEAD', async () => {
    const { response, bytes } = await get({ range: 'bytes=0-9' }, 'HEAD');
    expect([response.status, response.headers.get('content-length'), bytes.length]).toEqual([
      200,
      String(whole.length),
      0,
    ]);
  });

  test.each([
    ['bytes=0-9', 0, 9],
    ['bytes=100-', 100, -1],
    ['bytes=-7', -7, -1],
    ['bytes=5-99999999', 5, -1],
    ['bytes=-99999999', 0, -1],
  ])('Range %s', async (range, from, to) => {
    const { response, bytes } = await get({ range });
    const first = from < 0 ? whole.length + from : from;
    const last = to < 0 ? whole.length - 1 : to;
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${first}-${last}/${whole.length}`);
    expect(bytes.equals(whole.subarray(first, last + 1))).toBe(true);
  });

  test.each([['bytes=0-1,3-4'], ['bytes=9-3'], ['bytes=-'], ['lines=1-2']])('%s is ignored', async (range) => {
    expect((await get({ range })).response.status).toBe(200);
  });

  test.each([['bytes=99999999-'], ['bytes=-0']])('Range %s: 416', async (range) => {
    const { response } = await get({ range });
    expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
  });

  test('If-Range and If-None-Match compare the tag', async () => {
    const tag = (await get()).response.headers.get('etag') ?? '';
    const range = 'bytes=0-9';
    expect((await get({ range, 'if-range': tag })).response.status).toBe(206);
    expect((await get({ range, 'if-range': '"old"' })).response.status).toBe(200);
    const unchanged = await get({ 'if-none-match': `"old", ${tag}` });
    expect([unchanged.response.status, unchanged.bytes.length]).toEqual([304, 0]);
    expect((await get({ 'if-none-match': '"old"' })).response.status).toBe(200);
  });

  test('another name, another token, a job that is not done: 404', async () => {
    for (const wrong of [url.replace('.png', '.jpg'), url.replace(/files\/./, 'files/g')]) {
      expect((await rig.sandbox.fetch(new Request(wrong))).status).toBe(404);
    }
    const slow = openRig();
    const id = await slow.imageId({ prompt: 'a lamp', resolution: '1k' });
    slow.clock.now += 60_000;
    const slowUrl = await slow.outputUrl('image', id);
    slow.clock.now -= 60_000;
    expect((await slow.sandbox.fetch(new Request(slowUrl))).status).toBe(404);
  });
});
