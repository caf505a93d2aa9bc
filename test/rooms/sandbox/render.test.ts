import { createHash } from 'node:crypto';
import { MPEGDecoder } from 'mpg123-decoder';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderVideo } from '../../../src/sandbox/render/clip.ts';
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

test('videos: the same order gives the same bytes; another prompt or footer gives other bytes', async () => {
  const changes = [{}, { prompt: 'A boat' }, { footer: 'take 2' }];
  const film = (change: object) => renderVideo({ ...scene, durationMs: 2500, ...change }).then(digest);
  const digests = await Promise.all(changes.map(film));
  expect(new Set(digests).size).toBe(changes.length);
  expect(await film({})).toBe(digests[0]);
});

const infinite = { speed: Number.POSITIVE_INFINITY, credits: 100_000 };

async function pictureOf(body: object): Promise<Buffer> {
  const rig = openRig(infinite);
  return rig.output('image', await rig.imageId(body));
}

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
])('a picture has the size that was asked for: %o: %i × %i', async (fields, width, height) => {
  const picture = await sharp(await pictureOf({ prompt: 'a lamp', ...fields })).metadata();
  expect([picture.width, picture.height]).toEqual([width, height]);
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

  test.each<[string, Record<string, string>, number, number?, number?]>([
    ['GET', {}, 200],
    ['HEAD', { range: 'bytes=0-9' }, 200],
    ['GET', { range: 'bytes=0-9' }, 206, 0, 9],
    ['GET', { range: 'bytes=100-' }, 206, 100],
    ['GET', { range: 'bytes=-7' }, 206, -7],
    ['GET', { range: 'bytes=0-1,3-4' }, 200],
    ['GET', { range: 'lines=1-2' }, 200],
    ['GET', { range: 'bytes=0-9', 'if-range': '"old"' }, 200],
    ['GET', { range: 'bytes=99999999-' }, 416],
    ['GET', { 'if-none-match': '"old"' }, 200],
  ])('%s %j: %i', async (method, headers, status, from = 0, to) => {
    const { response, bytes } = await get(headers, method);
    expect(response.status).toBe(status);
    if (method === 'HEAD')
      expect([response.headers.get('content-length'), bytes.length]).toEqual([`${whole.length}`, 0]);
    else if (status !== 416)
      expect(bytes.equals(whole.subarray(from, to === undefined ? undefined : to + 1))).toBe(true);
    if (status === 206) expect(response.headers.get('content-range')).toMatch(new RegExp(`/${whole.length}$`));
  });

  test('a tag that still holds: a part of the file, or nothing', async () => {
    const tag = (await get()).response.headers.get('etag') ?? '';
    expect((await get({ range: 'bytes=0-9', 'if-range': tag })).response.status).toBe(206);
    expect((await get({ 'if-none-match': `"old", ${tag}` })).response.status).toBe(304);
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
