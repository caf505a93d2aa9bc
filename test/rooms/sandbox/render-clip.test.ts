import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ClipOrder, readWebm, renderClip } from '../../../src/sandbox/render/clip.ts';
import { renderVideo } from '../../../src/sandbox/render/video.ts';
import { type Packet, readFilm, vp8Size } from './render-reader.ts';

const order: ClipOrder = {
  source: undefined,
  sourceName: 'interview.mp4',
  seed: 'clip',
  index: 0,
  count: 1,
  width: 54,
  height: 96,
};
let source: Buffer;

beforeAll(async () => {
  const film = { seed: 'source', prompt: 'A boat', footer: '', width: 160, height: 90, durationMs: 5000 };
  source = Buffer.from(await renderVideo(film));
});

async function clip(changes: Partial<ClipOrder>) {
  const bytes = Buffer.from(await renderClip({ ...order, ...changes }));
  return { bytes, ...readFilm(bytes) };
}

function contents(packets: readonly Packet[]): string[] {
  return packets.map(({ data }) => data.toString('base64'));
}

describe('of a film of the sandbox', () => {
  test.each([1, 3, 10])('%i pieces together are the film, frame for frame', async (count) => {
    const whole = readFilm(source);
    const pieces = await Promise.all(Array.from({ length: count }, (_, index) => clip({ source, index, count })));
    expect(pieces.flatMap(({ frames }) => contents(frames))).toEqual(contents(whole.frames));
    expect(pieces.reduce((sum, { durationMs }) => sum + durationMs, 0)).toBe(5000);
    for (const { frames, durationMs } of pieces) {
      expect(Math.abs(durationMs - 5000 / count)).toBeLessThanOrEqual(500);
      expect(frames[0]?.timeMs).toBe(0);
    }
  });

  test('a piece has the size of the film, and can be cut again', async () => {
    const half = await clip({ source, index: 1, count: 2 });
    expect(vp8Size(half.frames[0]?.data ?? Buffer.alloc(0))).toEqual({ width: 160, height: 90 });
    const quarter = await clip({ source: half.bytes, index: 0, count: 2 });
    expect(contents(quarter.frames)).toEqual(contents(half.frames.slice(0, 2)));
  });

  test('more pieces than pictures: a placeholder', async () => {
    const { durationMs } = await clip({ source, index: 0, count: 11 });
    expect(durationMs).toBe(3000);
  });
});

describe('of anything else, three seconds in the asked size', () => {
  const foreign = () =>
    Buffer.from(source.toString('latin1').replaceAll('mediabatch sandbox', 'some other program'), 'latin1');
  test.each<[string, () => Uint8Array | undefined]>([
    ['no source', () => undefined],
    ['an empty file', () => new Uint8Array(0)],
    ['an MP4', () => Buffer.from('000000186674797069736f6d0000020069736f6d69736f32', 'hex')],
    ['a page that says an error', () => Buffer.from('<!doctype html><title>404</title>')],
    ['a film that was cut off', () => source.subarray(0, source.length - 1)],
    ['a film with something after it', () => Buffer.concat([source, Buffer.alloc(1)])],
    ["somebody else's WebM", foreign],
  ])('%s', async (_name, read) => {
    const { durationMs, frames } = await clip({ source: read() });
    expect(durationMs).toBe(3000);
    expect(frames).toHaveLength(6);
    expect(vp8Size(frames[0]?.data ?? Buffer.alloc(0))).toEqual({ width: 54, height: 96 });
  });

  test('each place and each name has its own, always the same', async () => {
    const changes: Partial<ClipOrder>[] = [
      { count: 2 },
      { count: 2, index: 1 },
      { count: 2, sourceName: 'other.mp4' },
      { count: 3, width: 96 },
    ];
    const files = await Promise.all(changes.map(async (change) => (await clip(change)).bytes.toString('base64')));
    expect(new Set(files).size).toBe(4);
    expect((await clip({ count: 2 })).bytes.toString('base64')).toBe(files[0]);
  });
});

test('no damage makes the reader fail', () => {
  const damage = fc.record({
    at: fc.nat(source.length - 1),
    byte: fc.nat(255),
    from: fc.nat(600),
    keep: fc.nat(source.length),
  });
  fc.assert(
    fc.property(damage, ({ at, byte, from, keep }) => {
      const bytes = Buffer.from(source);
      bytes[at] = byte;
      bytes[from] = byte;
      expect(() => readWebm(bytes.subarray(0, Math.max(at, keep)))).not.toThrow();
      expect(() => readWebm(bytes)).not.toThrow();
    }),
    { numRuns: 150 },
  );
});
