import Opus from 'opusscript';
import { describe, expect, test } from 'vitest';
import { renderVideo } from '../../../src/sandbox/render/video.ts';
import { renderVideoStill } from '../../../src/sandbox/render/video-still.ts';
import { dig, readFilm, readNumber, vp8Size, webpSize } from './render-reader.ts';

const order = { seed: 'film', prompt: 'A boat', footer: 'sandbox', width: 192, height: 108, durationMs: 3000 };

async function film(changes: Partial<typeof order> = {}) {
  const bytes = Buffer.from(await renderVideo({ ...order, ...changes }));
  return { bytes, ...readFilm(bytes) };
}

describe('a film', () => {
  test('is WebM with a track of VP8 in its size and one of Opus', async () => {
    const { docType, order: parts, durationMs, tracks } = await film();
    expect(docType).toBe('webm');
    expect(durationMs).toBe(3000);
    // Info, tracks, cues, and only then the clusters.
    expect(parts).toEqual(['1549a966', '1654ae6b', '1c53bb6b', '1f43b675', '1f43b675', '1f43b675']);
    const [video = Buffer.alloc(0), sound = Buffer.alloc(0)] = tracks;
    expect(tracks).toHaveLength(2);
    expect([dig(video, '86').toString(), readNumber(dig(video, '83'))]).toEqual(['V_VP8', 1]);
    expect([readNumber(dig(video, 'e0', 'b0')), readNumber(dig(video, 'e0', 'ba'))]).toEqual([192, 108]);
    expect(1e9 / readNumber(dig(video, '23e383'))).toBeCloseTo(12);
    expect([dig(sound, '86').toString(), readNumber(dig(sound, '83'))]).toEqual(['A_OPUS', 2]);
    const head = dig(sound, '63a2');
    expect([head.toString('latin1', 0, 8), head[9], head.readUInt32LE(12)]).toEqual(['OpusHead', 2, 48_000]);
  });

  test.each([
    [1000, 12],
    [2500, 30],
    [12_000, 144],
  ])('of %i ms has %i pictures at even distances', async (durationMs, count) => {
    const { frames, durationMs: told } = await film({ durationMs, width: 64, height: 36 });
    expect(told).toBe(durationMs);
    expect(frames.map(({ timeMs }) => timeMs)).toEqual(
      Array.from({ length: count }, (_, index) => Math.round((index * 1000) / 12)),
    );
  });

  test.each([
    [192, 108],
    [90, 160],
    [101, 67],
  ])('of %i × %i: every picture is a key frame of this size, and no two are the same', async (width, height) => {
    const { frames } = await film({ width, height, durationMs: 2000 });
    for (const { data, isKey } of frames) {
      expect(isKey).toBe(true);
      expect(vp8Size(data)).toEqual({ width, height });
    }
    expect(new Set(frames.map(({ data }) => data.toString('base64'))).size).toBe(frames.length);
  });

  test('can be entered at every second: the cues point at clusters that begin with a picture', async () => {
    const { bytes, cues, clusters } = await film();
    expect(cues).toHaveLength(3);
    expect(cues.map(({ timeMs, position }) => [timeMs, position])).toEqual(
      clusters.map(({ timeMs, at }) => [timeMs, at]),
    );
    expect(cues.map(({ timeMs }) => timeMs)).toEqual([0, 1000, 2000]);
    // Positions count from the first byte inside the segment.
    const inside = bytes.length - (clusters.at(-1)?.at ?? 0) - bytes.lastIndexOf(Buffer.from('1f43b675', 'hex'));
    expect(bytes.length - inside).toBeGreaterThan(0);
    for (const { packets } of clusters) {
      expect(packets[0]?.track).toBe(1);
      const times = packets.map(({ timeMs }) => timeMs);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    }
  });

  test('has a quiet sound from the first moment to the last', async () => {
    const { sound } = await film();
    expect(sound.map(({ timeMs }) => timeMs)).toEqual(Array.from({ length: 150 }, (_, index) => index * 20));
    const decoder = new Opus(48_000, 2, Opus.Application.AUDIO);
    const loudness = [0, 1, 2].map((second) => {
      const packets = sound.slice(second * 50, (second + 1) * 50);
      const samples = packets.flatMap(({ data }) => {
        const pcm = decoder.decode(data);
        return Array.from({ length: pcm.length / 2 }, (_, index) => pcm.readInt16LE(index * 2) / 32_768);
      });
      return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
    });
    decoder.delete();
    for (const level of loudness) {
      expect(level).toBeGreaterThan(0.003);
      expect(level).toBeLessThan(0.12);
    }
  });

  test('is the same for the same order, and another for another prompt, seed or footer', async () => {
    const small = { width: 64, height: 36, durationMs: 1000 };
    const { bytes } = await film(small);
    expect(bytes.equals((await film(small)).bytes)).toBe(true);
    for (const change of [{ prompt: 'Another boat' }, { seed: 'other' }, { footer: 'take 2' }])
      expect(bytes.equals((await film({ ...small, ...change })).bytes)).toBe(false);
  });

  test.each([
    ['', ''],
    ['夜空の下で 🎉', '—'],
    ['long '.repeat(3000), 'long '.repeat(100)],
  ])('takes any prompt', async (prompt, footer) => {
    const { frames } = await film({ prompt, footer, width: 64, height: 36, durationMs: 250 });
    expect(frames).toHaveLength(3);
  });
});

test.each([
  [640, 360],
  [360, 640],
  [101, 67],
])('the still of a film of %i × %i is a WebP of its size', async (width, height) => {
  const still = Buffer.from(await renderVideoStill({ ...order, width, height }));
  expect(webpSize(still)).toEqual({ width, height });
  expect(still.equals(Buffer.from(await renderVideoStill({ ...order, width, height })))).toBe(true);
});
