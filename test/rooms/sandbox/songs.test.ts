import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodeFlac } from './flac-decoder.ts';
import { openRig } from './rig.ts';

async function songOf(body: object): Promise<{ bytes: Buffer; mediaType: string | null }> {
  const rig = openRig({ speed: Number.POSITIVE_INFINITY });
  const url = await rig.outputUrl('music', await rig.musicId(body));
  const response = await rig.sandbox.fetch(new Request(url));
  return { bytes: Buffer.from(await response.arrayBuffer()), mediaType: response.headers.get('content-type') };
}

function expectSongLength(seconds: number): void {
  expect(seconds).toBeGreaterThanOrEqual(12);
  expect(seconds).toBeLessThanOrEqual(20.1);
}

/** Loudness of 16-bit samples, 0 to 1. */
function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + (value / 32_768) ** 2, 0) / samples.length);
}

const words = { lyrics: 'Under the lights of the harbour we go\nhome again, home again, slow' };

describe('wav', () => {
  test('is 16-bit stereo PCM at 44.1 kHz, and not silent', async () => {
    const { bytes, mediaType } = await songOf({ prompt: 'upbeat, 118 bpm', output_format: 'wav', ...words });
    expect(mediaType).toBe('audio/wav');
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WAVEfmt ']);
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    const format = [20, 22, 34].map((at) => bytes.readUInt16LE(at));
    expect([...format, bytes.readUInt32LE(24)]).toEqual([1, 2, 16, 44_100]);
    expect(bytes.toString('latin1', 36, 40)).toBe('data');
    expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
    expectSongLength((bytes.length - 44) / 4 / 44_100);
    const samples = new Int16Array(new Uint8Array(bytes.subarray(44)).buffer);
    expect(loudness(samples)).toBeGreaterThan(0.08);
    expect(Math.max(...samples.subarray(0, 44_100).map(Math.abs))).toBeLessThan(32_000);
  });

  test.each([
    ['40 bpm'],
    ['59 bpm'],
    ['60 bpm'],
    ['80 bpm'],
    ['200 bpm'],
    ['300 bpm'],
    ['999 bpm ambient'],
    ['sad ballad'],
    ['punk'],
  ])('"%s" lasts 12 to 20 seconds', async (prompt) => {
    const { bytes } = await songOf({ prompt, model: 'song-7.5', output_format: 'wav' });
    expectSongLength((bytes.length - 44) / 4 / 44_100);
  });
});

describe('flac', () => {
  test.each([
    ['with words', words],
    ['without Latin letters', { lyrics: '夜空の下\nПривет, мир' }],
    ['instrumental', { model: 'song-7.5' }],
  ])('%s decodes to the samples whose digest it carries', async (_name, fields) => {
    const { bytes, mediaType } = await songOf({ prompt: 'lofi', output_format: 'flac', ...fields });
    expect(mediaType).toBe('audio/flac');
    const { left, right, sampleRate, md5, samples } = decodeFlac(bytes);
    expect([sampleRate, left.length, right.length]).toEqual([44_100, samples, samples]);
    expectSongLength(samples / sampleRate);
    const pcm = Buffer.alloc(samples * 4);
    for (let index = 0; index < samples; index += 1) {
      pcm.writeInt16LE(left[index] ?? 0, index * 4);
      pcm.writeInt16LE(right[index] ?? 0, index * 4 + 2);
    }
    expect(createHash('md5').update(pcm).digest('hex')).toBe(md5);
  });
});

describe('mp3', () => {
  test('is the default; frames of 44.1 kHz stereo from the first byte to the last', async () => {
    const { bytes, mediaType } = await songOf({ prompt: 'rock', ...words });
    expect(mediaType).toBe('audio/mpeg');
    let frames = 0;
    for (let at = 0; at < bytes.length; frames += 1) {
      const header = bytes.readUInt32BE(at);
      expect(header >>> 17).toBe(0x7ffd); // sync, MPEG 1, layer 3
      expect((header >>> 10) & 3).toBe(0); // 44.1 kHz
      expect((header >>> 6) & 3).not.toBe(3); // not mono
      const bitrate = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][(header >>> 12) & 15] ?? 0;
      at += Math.floor((144_000 * bitrate) / 44_100) + ((header >>> 9) & 1);
    }
    expectSongLength((frames * 1152) / 44_100);
  });
});

test('the same request gives the same song; other words, another', async () => {
  const body = { prompt: 'calm', output_format: 'wav', lyrics: 'la la la' };
  const first = (await songOf(body)).bytes;
  expect(first.equals((await songOf(body)).bytes)).toBe(true);
  expect(first.equals((await songOf({ ...body, lyrics: 'lu lu lu' })).bytes)).toBe(false);
});
