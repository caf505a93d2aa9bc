import { createHash } from 'node:crypto';
import { MPEGDecoder } from 'mpg123-decoder';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderVideo, renderVideoStill } from '../../../src/sandbox/render/clip.ts';
import { drawPicture } from '../../../src/sandbox/render/picture.ts';
import { renderSong, renderSpeech } from '../../../src/sandbox/render/sound.ts';
import { openRig } from './rig.ts';

const scene = { seed: 'scene', prompt: 'A red bicycle', footer: 'sandbox', width: 320, height: 180 };
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('pictures', () => {
  test.each([
    ['png', 320, 180],
    ['jpeg', 90, 720],
    ['webp', 33, 17],
  ] as const)('%s of %i × %i decodes in its size', async (format, width, height) => {
    const { info } = await sharp(await drawPicture({ ...scene, format, width, height }))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.channels]).toEqual([width, height, 3]);
  });

  test('the same order gives the same bytes; another prompt, seed or footer gives others', async () => {
    const changes = [{}, { prompt: 'A blue bicycle' }, { seed: 'other' }, { footer: 'sandbox · take 2' }];
    const draw = (change: object) => drawPicture({ ...scene, ...change }).then(digest);
    const digests = await Promise.all(changes.map(draw));
    expect(new Set(digests).size).toBe(changes.length);
    expect(await draw({})).toBe(digests[0]);
  });

  test.each([
    ['markup', '</text><image href="x"/> & "quotes"'],
    ['a long word', 'x'.repeat(3000)],
    ['a long text', 'lorem ipsum '.repeat(2000)],
    ['control characters', 'a\u0000b\u001b[2J\r\n\u202ec\uffff'],
    ['half a character', '\ud83d'],
    ['nothing to see', ' '],
  ])('draws %s', async (_name, prompt) => {
    const { width } = await sharp(await drawPicture({ ...scene, prompt, width: 64, height: 512 })).metadata();
    expect(width).toBe(64);
  });
});

const song = { seed: 'song', format: 'mp3' } as const;
const speech = { seed: 'speech', text: 'Hello, world. '.repeat(10), voice: 'Aria', format: 'mp3' } as const;

async function decodeMp3(bytes: Uint8Array) {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const { channelData, sampleRate, samplesDecoded, errors } = decoder.decode(bytes);
  decoder.free();
  expect(errors).toEqual([]);
  const loudest = channelData[0]?.reduce((most, value) => Math.max(most, Math.abs(value)), 0) ?? 0;
  return { seconds: samplesDecoded / sampleRate, loudest };
}

describe('sounds', () => {
  test('a song in MP3 decodes to 12 to 20 seconds that can be heard', async () => {
    const { seconds, loudest } = await decodeMp3(await renderSong(song));
    expect(seconds).toBeGreaterThanOrEqual(12);
    expect(seconds).toBeLessThanOrEqual(20.1);
    expect(loudest).toBeGreaterThan(0.05);
    expect(loudest).toBeLessThan(1);
  });

  test('WAV and FLAC hold the same samples, with their digest', async () => {
    const wav = Buffer.from(await renderSong({ ...song, format: 'wav' }));
    const flac = Buffer.from(await renderSong({ ...song, format: 'flac' }));
    expect([wav.toString('latin1', 0, 4), wav.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WAVEfmt ']);
    expect([20, 22, 34].map((at) => wav.readUInt16LE(at))).toEqual([1, 1, 16]);
    expect([wav.readUInt32LE(4), wav.readUInt32LE(40)]).toEqual([wav.length - 8, wav.length - 44]);
    expect(flac.toString('latin1', 0, 4)).toBe('fLaC');
    expect(flac.readBigUInt64BE(18) & 0xfffffffffn).toBe(BigInt((wav.length - 44) / 2));
    expect(flac.toString('hex', 26, 42)).toBe(createHash('md5').update(wav.subarray(44)).digest('hex'));
    const { seconds } = await decodeMp3(await renderSong(song));
    expect((wav.length - 44) / 2 / wav.readUInt32LE(24)).toBeCloseTo(seconds);
  });

  test('the same order gives the same bytes; another seed, voice or text gives others', async () => {
    const files = [
      await renderSong(song),
      await renderSong({ ...song, seed: 'other' }),
      await renderSpeech(speech),
      await renderSpeech({ ...speech, seed: 'other' }),
      await renderSpeech({ ...speech, voice: 'George' }),
      await renderSpeech({ ...speech, text: 'Good bye' }),
    ].map(digest);
    expect(new Set(files).size).toBe(files.length);
    expect(digest(await renderSong(song))).toBe(files[0]);
  });
});

describe('videos', () => {
  test('the same order gives the same bytes; another prompt or footer gives others', async () => {
    const changes = [{}, { prompt: 'A boat' }, { footer: 'take 2' }];
    const film = (change: object) => renderVideo({ ...scene, durationMs: 2500, ...change }).then(digest);
    const digests = await Promise.all(changes.map(film));
    expect(new Set(digests).size).toBe(changes.length);
    expect(await film({})).toBe(digests[0]);
  });

  test('a poster is WebP in the size of the video', async () => {
    const { format, width, height } = await sharp(await renderVideoStill({ ...scene, durationMs: 1000 })).metadata();
    expect([format, width, height]).toEqual(['webp', 320, 180]);
  });
});

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
