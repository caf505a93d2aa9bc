import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ReviewFile } from '../../../src/contract/review.ts';
import { makeThumb, Thumbs } from '../../../src/review/thumbs/thumbs.ts';
import { drawPicture } from '../../../src/sandbox/render/picture.ts';
import { makeFolder } from '../../rig/folder.ts';

const draw = (format: 'png' | 'jpeg' | 'webp', width = 600, height = 400) =>
  drawPicture({ seed: 'thumbs', prompt: 'a lamp', footer: '', width, height, format });

function put(folder: string, name: string, bytes: Uint8Array): ReviewFile & { at: string } {
  const at = join(folder, name);
  writeFileSync(at, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { at, is: 'image', path: name, mediaType: 'image/png', bytes: bytes.length, sha256 };
}

const orderOf = ({ at: path, bytes, sha256 }: ReturnType<typeof put>) => ({ path, bytes, sha256 });

interface Pixels {
  /** Red, green and blue of each. */
  data: Buffer;
  width: number;
  height: number;
}

async function decoded(thumb: Awaited<ReturnType<typeof makeThumb>>): Promise<Pixels> {
  if ('problem' in thumb) throw new Error(thumb.problem);
  const { data, info } = await sharp(thumb.jpeg).raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

type Color = [red: number, green: number, blue: number, alpha: number];

/** Drawn pixel by pixel. */
function plain(width: number, height: number, colorOf: (x: number, y: number) => Color) {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) data.set(colorOf(x, y), (y * width + x) * 4);
  }
  return sharp(data, { raw: { width, height, channels: 4 } });
}

describe('a small picture', () => {
  test('is not made of what claims more pixels than anybody has memory for', async () => {
    const bytes = Buffer.from(await draw('png', 40, 30));
    bytes.writeUInt32BE(60_000, 16);
    bytes.writeUInt32BE(60_000, 20);
    const thumb = await makeThumb(orderOf(put(makeFolder(), 'a.png', bytes)));
    expect(thumb).toEqual({ problem: 'has 60000 × 60000 pixels, which is too much for a thumbnail' });
  });

  test('shows what is transparent on grey, averages what lies under each pixel, and is never larger', async () => {
    const glass = await plain(2, 2, () => [255, 255, 255, 0])
      .png()
      .toBuffer();
    const small = await decoded(await makeThumb(orderOf(put(makeFolder(), 'a.png', glass))));
    expect(small).toMatchObject({ width: 2, height: 2 });
    for (const value of small.data) expect(Math.abs(value - 128)).toBeLessThan(4);
    const checks = await plain(1536, 768, (x, y) => ((x + y) % 2 === 0 ? [255, 255, 255, 255] : [0, 0, 0, 255]))
      .png()
      .toBuffer();
    const { data, ...size } = await decoded(await makeThumb(orderOf(put(makeFolder(), 'b.png', checks))));
    expect(size).toEqual({ width: 384, height: 192 });
    for (const value of data) expect(Math.abs(value - 128)).toBeLessThan(8);
  });

  test('property: of any bytes it is one, or the reason why there is none, and the process goes on', async () => {
    const folder = makeFolder();
    const whole = await Promise.all((['png', 'jpeg', 'webp'] as const).map((format) => draw(format, 40, 30)));
    const byte = fc.tuple(fc.nat({ max: 2000 }), fc.nat({ max: 255 }));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...whole),
        fc.nat({ max: 4000 }),
        fc.array(byte, { maxLength: 8 }),
        async (bytes, length, edits) => {
          const cut = bytes.slice(0, length);
          for (const [at, value] of edits) if (at < cut.length) cut[at] = value;
          const thumb = await makeThumb(orderOf(put(folder, 'any', cut)));
          if ('jpeg' in thumb) expect((await sharp(thumb.jpeg).metadata()).width).toBeLessThanOrEqual(384);
          else expect(thumb.problem).toMatch(/^(?:cannot be read|has \d|is not a PNG)/);
        },
      ),
    );
  });

  test('is not made of what is broken, cut off, or no picture, and the reason is said', async () => {
    const folder = makeFolder();
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const whole = await draw(format);
      const broken = whole.slice(0, 60);
      const thumb = await makeThumb(orderOf(put(folder, `broken.${format}`, broken)));
      expect(thumb, format).toMatchObject({ problem: expect.stringMatching(/cannot be read|has no size/) });
      // The decoder goes on with the next.
      expect(await makeThumb(orderOf(put(folder, `whole.${format}`, whole)))).toHaveProperty('jpeg');
    }
    for (const text of ['', '<svg onload=alert(1)>', 'GIF89a']) {
      expect(await makeThumb(orderOf(put(folder, 'text.png', Buffer.from(text))))).toHaveProperty('problem');
    }
  });

  test('is of the bytes that were bought, and of nothing that a link leads to', async () => {
    const folder = makeFolder();
    const file = put(folder, 'a.png', await draw('png'));
    const other = put(folder, 'b.png', await draw('png', 300, 200));
    expect(await makeThumb({ ...orderOf(other), sha256: file.sha256 })).toEqual({
      problem: 'differs from the picture that was saved',
    });
    symlinkSync('a.png', join(folder, 'link.png'));
    expect(await makeThumb({ ...orderOf(file), path: join(folder, 'link.png') })).toHaveProperty('problem');
    expect(await makeThumb({ ...orderOf(file), path: folder })).toHaveProperty('problem');
  });
});

describe('what is kept', () => {
  const nameIn = (state: string, { sha256 }: ReviewFile) => join(state, 'thumbs', `${sha256}.jpg`);
  const kept = async (path: string) => {
    while (!existsSync(path)) await wait(2);
  };

  async function opened() {
    const folder = makeFolder();
    const state = join(folder, '.mediabatch');
    const file = put(folder, 'a.png', await draw('png'));
    const make = () => {
      const thumbs = new Thumbs(state);
      onTestFinished(() => thumbs.close());
      return thumbs;
    };
    return { folder, state, file, make, find: async () => file.at };
  }

  test('is used later, when the picture itself is gone', async () => {
    const { state, file, make, find } = await opened();
    const first = await decoded(await make().get(file, find));
    await kept(nameIn(state, file));
    expect(readdirSync(state).sort()).toEqual(['.gitignore', 'thumbs']);
    rmSync(file.at);
    expect(await decoded(await make().get(file, async () => undefined))).toEqual(first);
  });

  test('by somebody else counts for nothing: whoever picks sees what was bought', async () => {
    const { state, file, make, find } = await opened();
    const forged = await plain(10, 10, () => [255, 0, 0, 255])
      .jpeg()
      .toBuffer();
    mkdirSync(join(state, 'thumbs'), { recursive: true });
    writeFileSync(nameIn(state, file), forged);
    expect((await decoded(await make().get(file, find))).width).toBe(384);
    // One that was made here, under the name of another picture.
    const other = { ...file, sha256: 'f'.repeat(64) };
    writeFileSync(nameIn(state, other), readFileSync(nameIn(state, file)));
    expect(await make().get(other, async () => undefined)).toEqual({ problem: 'is not on this disk' });
  });

  test('through a link is neither read nor written', async () => {
    const { folder, state, file, make, find } = await opened();
    mkdirSync(join(folder, 'elsewhere'));
    mkdirSync(state);
    symlinkSync('../elsewhere', join(state, 'thumbs'));
    expect(await make().get(file, find)).toHaveProperty('jpeg');
    await wait(20);
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
  });

  test('is asked for once, however many want it, and again after a failure', async () => {
    const { file, make, find } = await opened();
    const thumbs = make();
    let asked = 0;
    const count = (answer: () => Promise<string | undefined>) => async () => {
      asked += 1;
      return answer();
    };
    expect(
      await thumbs.get(
        file,
        count(async () => undefined),
      ),
    ).toHaveProperty('problem');
    await Promise.all(Array.from({ length: 5 }, () => thumbs.get(file, count(find))));
    expect(asked).toBe(2);
  });

  test('is made for the newest wish first, and for none when nobody looks any more', async () => {
    const { state } = await opened();
    const made: string[] = [];
    const maker = async ({ path }: { path: string }) => {
      await wait(5);
      made.push(path);
      return { problem: path };
    };
    const thumbs = new Thumbs(state, maker, 4);
    const named = (name: string) =>
      ({ is: 'image', path: name, mediaType: 'image/png', bytes: 1, sha256: name }) as const;
    const want = (name: string) => thumbs.get(named(name), async () => name);
    await Promise.all(Array.from({ length: 30 }, (_, index) => want(String(index))));
    // At most four have begun before the others came.
    for (const [older, newer] of [
      [4, 29],
      [8, 24],
      [12, 20],
    ]) {
      expect(made.indexOf(String(newer)), made.join(' ')).toBeLessThan(made.indexOf(String(older)));
    }
    await thumbs.close();
    expect(await want('later')).toEqual({ problem: 'was no longer needed' });
  });
});
