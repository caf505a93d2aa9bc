import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { differenceHash } from '../../../src/disk/pictures/shrink-picture.ts';
import { distanceOf, Neighbours, readHash, widestDistance, widestRadius } from '../../../src/ground/picture-looks.ts';
import { unpack } from '../../../src/page/gallery/unpack.ts';
import { encodePath, nameOfCopy, urlFrom } from '../../../src/review/gallery/gallery-files.ts';
import { GalleryFolder } from '../../../src/review/gallery/gallery-folder.ts';
import { folderHtml, pack, safeInHtml, singleHtml } from '../../../src/review/gallery/gallery-html.ts';
import { holdGallery } from '../../../src/review/gallery/make-gallery.ts';
import { SingleFile } from '../../../src/review/gallery/single-file.ts';
import { readNote, withNote } from '../../../src/review/thumbs/jpeg-note.ts';
import { anyCharacter } from '../../rig/any-character.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { asset, campaign, file } from '../../rig/review/campaign.ts';

function folderHere(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  return path;
}

const hex = fc.stringMatching(/^[0-9a-f]{16}$/);
const flip = (hash: string, bits: readonly number[]) => {
  const mask = [...new Set(bits)].reduce((sum, bit) => sum ^ (1n << BigInt(bit)), 0n);
  return (BigInt(`0x${hash}`) ^ mask).toString(16).padStart(16, '0');
};

describe('what a picture looks like', () => {
  const paint = (width: number, height: number, greyOf: (x: number, y: number) => number) => {
    const data = new Uint8ClampedArray(width * height * 4);
    for (let at = 0; at < width * height; at += 1) {
      const value = greyOf((at % width) / width, Math.floor(at / width) / height);
      data.set([value, value, value, 255], at * 4);
    }
    return sharp(data, { raw: { width, height, channels: 4 } });
  };

  test('says where it gets lighter to the right, whatever its size', async () => {
    expect(await differenceHash(paint(90, 80, (x) => x * 255))).toBe('ffffffffffffffff');
    expect(await differenceHash(paint(9, 8, (x) => 255 - x * 255))).toBe('0000000000000000');
    const wave = (x: number, y: number) => 128 + 100 * Math.sin(9 * x + 5 * y);
    expect(await differenceHash(paint(384, 256, wave))).toBe(await differenceHash(paint(192, 128, wave)));
  });

  test('of one color there is nothing to compare; a picture of a single pixel is one', async () => {
    expect(await differenceHash(paint(40, 40, () => 90))).toBeUndefined();
    expect(await differenceHash(paint(1, 1, () => 90))).toBeUndefined();
  });

  test('property: a note stays in a JPEG, and is found again', () => {
    const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xdb, 0, 2, 0xff, 0xd9);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9 ]{0,60}$/), (note) => {
        const noted = withNote(jpeg, note);
        expect(readNote(noted)).toBe(note);
        expect([...noted.subarray(0, 8)]).toEqual([...jpeg.subarray(0, 8)]);
        expect([...noted.subarray(-6)]).toEqual([...jpeg.subarray(-6)]);
      }),
    );
    expect(readNote(jpeg)).toBeUndefined();
  });
});

describe('pictures that look the same', () => {
  test('property: the bands of bits miss nobody within the radius', () => {
    fc.assert(
      fc.property(hex, fc.array(fc.nat({ max: 63 }), { maxLength: 8 }), (hash, bits) => {
        const near = flip(hash, bits);
        const neighbours = new Neighbours<string>(widestRadius);
        neighbours.add(readHash(hash), hash);
        const distance = new Set(bits).size;
        expect(distanceOf(readHash(hash), readHash(near))).toBe(distance);
        expect(neighbours.find(readHash(near), () => true)).toBe(distance <= widestRadius ? hash : undefined);
      }),
    );
  });

  const one = '0f0f0f0f33335555';

  test('ten thousand rows that are nearly alike are compared with few others each', () => {
    const hashes = Array.from({ length: 10_000 }, (_, index) => readHash(flip(one, [index % 64, (index * 7) % 64])));
    const neighbours = new Neighbours<number>(2);
    let compared = 0;
    for (const [index, hash] of hashes.entries()) {
      const found = neighbours.find(hash, () => {
        compared += 1;
        return true;
      });
      if (found === undefined) neighbours.add(hash, index);
    }
    expect(compared / hashes.length).toBeLessThan(20);
    expect(widestDistance(hashes)).toBeLessThanOrEqual(4);
  });
});

describe('the page', () => {
  const nasty = [
    '</script><script>alert(1)</script>',
    '<!--<script>',
    '-->',
    '\u2028\u2029',
    '"\'&<img src=x onerror=alert(1)>',
  ];

  test('property: no text gets out of the block of data, and it comes back as it was', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...nasty)), { maxLength: 4 }),
        (texts) => {
          const text = safeInHtml(JSON.stringify(texts));
          expect(text).not.toMatch(/[<>\u2028\u2029]/);
          expect(JSON.parse(text)).toEqual(texts);
        },
      ),
    );
  });

  test('property: what is packed is the same when it is unpacked', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.array(fc.constantFrom(...nasty, 'a text that is repeated')),
        (values, texts) => {
          const assets = [...values, ...texts].map((value) => asset('hero@a', { request: { value: value as string } }));
          const data = campaign([{ name: 'hero@a', assets }]);
          const plain = JSON.parse(JSON.stringify(data));
          expect(unpack(JSON.parse(JSON.stringify(pack(plain))))).toEqual(plain);
        },
      ),
    );
  });

  test('names the campaign as a text, and lets nothing run but its own scripts', () => {
    const data = campaign([], { campaign: nasty.join('') });
    const html = folderHtml(data);
    expect(html.match(/<script/g)).toHaveLength(3);
    expect(html).toContain("default-src 'none'");
    const single = singleHtml(data, { scripts: ['const a = "</script><!--<script>";'], styles: 'body{}' });
    expect(single.match(/<script/g)).toHaveLength(2);
    expect(single).toMatch(/script-src 'sha256-[\w+/]{43}='; style-src 'sha256-/);
  });

  test('finds files by any name', () => {
    const path = join('/a', 'b', 'c d', '50% #1?.png');
    expect(urlFrom('/a/x', path)).toBe('../b/c%20d/50%25%20%231%3F.png');
    expect(encodePath('日本/ä"\'.png')).toBe("%E6%97%A5%E6%9C%AC/%C3%A4%22'.png");
    expect(nameOfCopy(file(1, 'image', { path: 'x/lamp.png' }))).toBe('media/lamp-000000000000.png');
  });
});

describe('a folder', () => {
  const bytes = Buffer.from('picture');
  const thumb = `thumbs/${'a'.repeat(20)}.jpg`;

  test('is a page that waits until the gallery is whole, and keeps what has not changed', async () => {
    const path = join(folderHere(), 'a.report');
    const first = await GalleryFolder.open(path, path);
    expect(readFileSync(join(path, 'index.html'), 'utf8')).toContain('is being written');
    await first.put(thumb, bytes);
    await first.finish('<!doctype html>\n<!-- mediabatch report -->\none');
    const inode = () => statSync(join(path, thumb)).ino;
    const before = inode();
    const second = await GalleryFolder.open(path, path);
    // Whoever opens it now still sees all of the old one.
    expect(readFileSync(join(path, 'index.html'), 'utf8')).toContain('one');
    await second.put(thumb, bytes);
    expect(inode()).toBe(before);
    await second.put(thumb, Buffer.from('another'));
    expect(readFileSync(join(path, thumb), 'utf8')).toBe('another');
    expect(readdirSync(path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('loses what no page shows any more, and nothing of anybody else', async () => {
    const path = join(folderHere(), 'a.report');
    const first = await GalleryFolder.open(path, path);
    await first.put(thumb, bytes);
    await first.copy('media/lamp-0123456789ab.png', join(path, thumb), 'x');
    await first.finish('<!doctype html>\n<!-- mediabatch report -->\none');
    for (const name of ['thumbs/mine.jpg', 'notes.txt', 'media/mine.png']) writeFileSync(join(path, name), 'mine');
    const left = ['', 'thumbs/', 'media/'].map((where) => `${where}.mediabatch-${'0'.repeat(16)}.tmp`);
    for (const name of left) writeFileSync(join(path, name), 'of one that was killed');
    await (await GalleryFolder.open(path, path)).finish('<!doctype html>\n<!-- mediabatch report -->\ntwo');
    const isThere = (name: string) => existsSync(join(path, name));
    expect(['thumbs/mine.jpg', 'notes.txt', 'media/mine.png'].map(isThere)).toEqual([true, true, true]);
    expect([thumb, 'media/lamp-0123456789ab.png', ...left].filter(isThere)).toEqual([]);
  });

  test('is written by one report at a time', async () => {
    const [folder, state] = [folderHere(), join(folderHere(), '.mediabatch')];
    const place = { path: join(folder, 'a.report'), shown: 'a.report' };
    const release = await holdGallery(state, place);
    await expect(holdGallery(state, place)).rejects.toThrow(
      `the gallery a.report is being written by another report: process ${process.pid} on `,
    );
    const other = await holdGallery(state, { path: join(folder, 'b.report'), shown: 'b.report' });
    await release();
    await (await holdGallery(state, place))();
    await other();
    expect(readdirSync(state)).toEqual(['.gitignore']);
    // Where nothing can be kept, nobody is held off.
    await (await holdGallery(join(folder, 'none/.mediabatch'), place))();
  });

  test('of somebody else, a file, or one behind a link that leads out is refused', async () => {
    const folder = folderHere();
    mkdirSync(join(folder, 'mine'));
    writeFileSync(join(folder, 'mine/index.html'), '<!doctype html>\n<p>mine');
    await expect(GalleryFolder.open(join(folder, 'mine'), 'mine')).rejects.toThrow(
      'no gallery that report has written',
    );
    expect(readFileSync(join(folder, 'mine/index.html'), 'utf8')).toContain('mine');
    await expect(GalleryFolder.open(join(folder, 'mine/index.html'), 'x')).rejects.toThrow('is a file');
    mkdirSync(join(folder, 'tree/.git'), { recursive: true });
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'tree/a.report'));
    await expect(GalleryFolder.open(join(folder, 'tree/a.report'), 'a.report')).rejects.toThrow('leads out of');
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
  });
});

test('a single file is never larger than 20 MB, and then nothing is written', async () => {
  const path = join(folderHere(), 'a.html');
  await expect(SingleFile.open(join(folderHere(), 'a.pdf'), 'a.pdf')).rejects.toThrow('does not end as a page does');
  const single = await SingleFile.open(path, 'a.html');
  const shown = file(1);
  const one = { path: '/a.png', file: shown, mentions: [shown, shown] };
  await single.add(one, Buffer.alloc(4 << 20));
  await expect(single.add(one, Buffer.alloc(4 << 20))).rejects.toThrow('a.html would be larger than 20 MB');
  expect(existsSync(path)).toBe(false);
});
