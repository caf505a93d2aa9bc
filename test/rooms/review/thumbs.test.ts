import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ReviewFile } from '../../../src/contract/review.ts';
import { decodePicture, encodeJpeg } from '../../../src/review/thumbs/codecs.ts';
import { makeThumb, type Thumb } from '../../../src/review/thumbs/make-thumb.ts';
import { readPictureSize } from '../../../src/review/thumbs/picture-size.ts';
import { type Pixels, shrink } from '../../../src/review/thumbs/shrink.ts';
import { ThumbPool } from '../../../src/review/thumbs/thumb-pool.ts';
import { Thumbs } from '../../../src/review/thumbs/thumbs.ts';
import { drawPicture } from '../../../src/sandbox/render/picture.ts';
import { temporaryFolder } from '../../rig/command.ts';

const draw = (format: 'png' | 'jpeg' | 'webp', width = 600, height = 400) =>
  drawPicture({ seed: 'thumbs', prompt: 'a lamp', footer: '', width, height, format });

function folderHere(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  return path;
}

function put(folder: string, name: string, bytes: Uint8Array): ReviewFile & { at: string } {
  const at = join(folder, name);
  writeFileSync(at, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { at, is: 'image', path: name, mediaType: 'image/png', bytes: bytes.length, sha256 };
}

const orderOf = ({ at: path, bytes, sha256 }: ReturnType<typeof put>) => ({ path, bytes, sha256 });

async function decoded(thumb: Thumb): Promise<Pixels> {
  if ('problem' in thumb) throw new Error(thumb.problem);
  return decodePicture('jpeg', new Uint8Array(thumb.jpeg).buffer);
}

const plain = (width: number, height: number, colorOf: (x: number, y: number) => [number, number, number, number]) => {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) data.set(colorOf(x, y), (y * width + x) * 4);
  }
  return { data, width, height };
};

describe('shrinking', () => {
  test('averages what lies under each new pixel, and keeps the shape', () => {
    const checks = plain(8, 4, (x, y) => ((x + y) % 2 === 0 ? [255, 0, 0, 255] : [0, 0, 255, 255]));
    const small = shrink(checks, 4);
    expect({ width: small.width, height: small.height }).toEqual({ width: 4, height: 2 });
    expect([...small.data.subarray(0, 4)]).toEqual([128, 0, 128, 255]);
  });

  test('shows what is transparent on grey, and makes nothing larger', () => {
    const glass = shrink(
      plain(2, 2, () => [255, 255, 255, 0]),
      384,
    );
    expect(glass).toMatchObject({ width: 2, height: 2 });
    expect([...glass.data.subarray(0, 4)]).toEqual([128, 128, 128, 255]);
  });

  test('property: any size becomes one that fits, and one color stays that color', () => {
    const side = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(side, side, fc.integer({ min: 1, max: 20 }), (width, height, most) => {
        const small = shrink(
          plain(width, height, () => [10, 20, 30, 255]),
          most,
        );
        expect(Math.max(small.width, small.height)).toBeLessThanOrEqual(most);
        expect(Math.min(small.width, small.height)).toBeGreaterThanOrEqual(1);
        expect(small.data).toEqual(plain(small.width, small.height, () => [10, 20, 30, 255]).data);
      }),
    );
  });
});

describe('the size of a picture', () => {
  test.each(['png', 'jpeg', 'webp'] as const)('is read from the head of a %s', async (format) => {
    expect(readPictureSize(await draw(format, 320, 200))).toEqual({ format, width: 320, height: 200 });
  });

  test('property: of any bytes it is none, or some, and never an error', async () => {
    const whole = await Promise.all((['png', 'jpeg', 'webp'] as const).map((format) => draw(format, 40, 30)));
    fc.assert(
      fc.property(
        fc.constantFrom(...whole),
        fc.nat({ max: 400 }),
        fc.array(fc.tuple(fc.nat({ max: 200 }), fc.nat({ max: 255 })), { maxLength: 8 }),
        (bytes, length, edits) => {
          const cut = bytes.slice(0, length);
          for (const [at, value] of edits) cut[at] = value;
          const size = readPictureSize(cut);
          if (size !== undefined) expect(size.width * size.height).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});

describe('a small picture', () => {
  test.each(['png', 'jpeg', 'webp'] as const)('of a %s is a JPEG of at most 384 pixels', async (format) => {
    const file = put(folderHere(), `a.${format}`, await draw(format));
    const thumb = await makeThumb(orderOf(file));
    const { width, height } = await decoded(thumb);
    expect({ width, height }).toEqual({ width: 384, height: 256 });
    expect('jpeg' in thumb && thumb.jpeg.length).toBeLessThan(40_000);
  });

  test('of a JPEG that lies on its side stands upright', async () => {
    const wide = await encodeJpeg(plain(60, 20, (x) => (x < 30 ? [255, 0, 0, 255] : [0, 0, 255, 255])));
    // Orientation 6: to be turned by 90° to the right.
    const exif = Buffer.from('ffe1002245786966000049492a0008000000010012010300010000000600000000000000', 'hex');
    const turned = Buffer.concat([wide.subarray(0, 2), exif, wide.subarray(2)]);
    const { width, height, data } = await decoded(await makeThumb(orderOf(put(folderHere(), 'a.jpg', turned))));
    expect({ width, height }).toEqual({ width: 20, height: 60 });
    const at = (x: number, y: number) => data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3);
    const [top = 0] = at(10, 5);
    const [, , bottom = 0] = at(10, 55);
    expect([top > 200, bottom > 200]).toEqual([true, true]);
  });

  test('is not made of what claims more pixels than anybody has memory for', async () => {
    const bytes = Buffer.from(await draw('png', 40, 30));
    bytes.writeUInt32BE(60_000, 16);
    bytes.writeUInt32BE(60_000, 20);
    const thumb = await makeThumb(orderOf(put(folderHere(), 'a.png', bytes)));
    expect(thumb).toEqual({ problem: 'has 60000 × 60000 pixels, which is too much for a small one' });
  });

  test('is not made of a JPEG whose decoder finds another size than its head tells', async () => {
    const jpeg = Buffer.from(await draw('jpeg', 60, 40));
    const hidden = jpeg.subarray(2);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(hidden.length + 2);
    const smallFrame = Buffer.from('ffc0000b080001000101011100ffd9', 'hex');
    // A decoder skips a marker of zero alone, and reads on in what would belong to it.
    const bytes = Buffer.concat([Buffer.from('ffd8ff00', 'hex'), length, hidden, smallFrame]);
    expect(await decodePicture('jpeg', new Uint8Array(bytes).buffer)).toMatchObject({ width: 60, height: 40 });
    expect(readPictureSize(bytes)).toBeUndefined();
    expect(await makeThumb(orderOf(put(folderHere(), 'a.jpg', bytes)))).toHaveProperty('problem');
  });

  test('is not made of what is broken, cut off, or no picture, and the reason is said', async () => {
    const folder = folderHere();
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
    const folder = folderHere();
    const file = put(folder, 'a.png', await draw('png'));
    const other = put(folder, 'b.png', await draw('png', 300, 200));
    expect(await makeThumb({ ...orderOf(other), sha256: file.sha256 })).toEqual({
      problem: 'is not the one that was saved',
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
    const folder = folderHere();
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
    const forged = await encodeJpeg(plain(10, 10, () => [255, 0, 0, 255]));
    mkdirSync(join(state, 'thumbs'), { recursive: true });
    writeFileSync(nameIn(state, file), forged);
    expect((await decoded(await make().get(file, find))).width).toBe(384);
    // One that was made here, under the name of another picture.
    const other = { ...file, sha256: 'f'.repeat(64) };
    writeFileSync(nameIn(state, other), readFileSync(nameIn(state, file)));
    expect(await make().get(other, async () => undefined)).toEqual({ problem: 'is not here' });
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
});

describe('threads', () => {
  function poolOf(worker: string, patienceMs?: number): ThumbPool {
    const path = join(folderHere(), 'worker.mjs');
    const head = "import { parentPort } from 'node:worker_threads';\n";
    writeFileSync(path, head + worker);
    const pool = new ThumbPool({ worker: pathToFileURL(path), ...(patienceMs !== undefined && { patienceMs }) });
    onTestFinished(() => pool.close());
    return pool;
  }
  const order = (path: string) => ({ path, bytes: 1, sha256: '' });
  const problemOf = (thumb: Thumb) => ('problem' in thumb ? thumb.problem : 'none');

  test('that crash, end or never answer give a reason, and others go on', async () => {
    const pool = poolOf(
      `parentPort.on('message', ({ path }) => {
        if (path === 'crash') throw new Error('out of memory');
        if (path === 'exit') process.exit(1);
        if (path === 'hang') for (;;);
        parentPort.postMessage({ problem: path });
      });`,
      3000,
    );
    const paths = ['crash', 'one', 'exit', 'two', 'hang', 'three', 'crash', 'four'];
    const problems = (await Promise.all(paths.map((path) => pool.make(order(path))))).map(problemOf);
    expect(problems).toEqual([
      ...[expect.stringContaining('out of memory'), 'one', expect.stringContaining('stopped'), 'two'],
      ...[expect.stringContaining('stopped'), 'three', expect.stringContaining('out of memory'), 'four'],
    ]);
  });

  test('take the newest order first, and none when they are closed', async () => {
    const pool = poolOf(
      `parentPort.on('message', ({ path }) => setTimeout(() => parentPort.postMessage({ problem: path }), 5));`,
    );
    const ended: string[] = [];
    const all = Array.from({ length: 30 }, async (_, index) => {
      ended.push(problemOf(await pool.make(order(String(index)))));
    });
    await Promise.all(all);
    // At most four have begun before the others came.
    for (const [older, newer] of [
      [4, 29],
      [8, 24],
      [12, 20],
    ]) {
      expect(ended.indexOf(String(newer)), ended.join(' ')).toBeLessThan(ended.indexOf(String(older)));
    }
    const late = pool.make(order('late'));
    await pool.close();
    expect(problemOf(await late)).toMatch(/stopped|not needed/);
    expect(problemOf(await pool.make(order('later')))).toBe('was not needed any more');
  });
});
