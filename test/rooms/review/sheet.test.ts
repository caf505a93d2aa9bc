import { describe, expect, test } from 'vitest';
import type { ReviewAsset, ReviewData } from '../../../src/contract/review.ts';
import { drawSheets, type SheetOptions } from '../../../src/review/sheet/draw-sheets.ts';
import { isMarked } from '../../../src/review/sheet/mark-picture.ts';
import { listContents } from '../../../src/review/sheet/tiles.ts';
import { decodePicture, encodeJpeg } from '../../../src/review/thumbs/codecs.ts';
import { readPictureSize } from '../../../src/review/thumbs/picture-size.ts';
import type { Pixels } from '../../../src/review/thumbs/shrink.ts';
import { asset, file } from '../../rig/review/campaign.ts';
import { galleryData } from '../../rig/review/gallery.ts';

describe('what stands on a sheet', () => {
  test('is all that was bought or went wrong, by task', () => {
    const { assets, ...data } = galleryData(40);
    const { title, detail, sections } = listContents({ ...data, assets, report: { made: 0 } });
    expect(title).toBe('aurora-launch');
    expect(sections.map((section) => section.title)).toEqual(['draft', 'hero', 'voice', 'clip']);
    const happened = assets.filter(({ files, state }) => files.length > 0 || state === 'failed');
    expect(sections.flatMap(({ tiles }) => tiles)).toHaveLength(happened.length);
    expect(detail).toMatch(/^\d+ assets · /);
    expect(sections[0]?.together).toBe(4);
  });

  test('says of each what it is', () => {
    const data = dataOf([
      asset('a', { verdict: { is: 'picked', note: 'calm\u202e\nlight' }, files: [file(1)], credits: 2 }),
      asset('b', { state: 'failed', error: 'refused by moderation', files: [] }),
      asset('c', { files: [{ ...file(1), problem: 'missing' }] }),
      asset('d', { state: 'planned', files: [] }),
    ]);
    const [a, b, c, ...more] = listContents(data).sections.flatMap(({ tiles }) => tiles);
    expect(more).toEqual([]);
    expect(a).toMatchObject({ verdict: 'picked' });
    expect(a?.caption).toEqual(['a', expect.stringContaining('picked · 2 credits'), '“calm  light”']);
    expect(b?.sides).toEqual([{ words: 'failed: refused by moderation', isBad: true }]);
    expect(c?.sides[0]?.words).toMatch(/is not on this disk$/);
    expect(listContents(data).detail).toContain('1 not bought yet');
  });

  test('of a comparison is what is not what it was', () => {
    const [same, other] = [file(1), { ...file(1), sha256: 'f'.repeat(64) }];
    const earlier = { changed: ['prompt'], request: {}, credits: 2 };
    const data = dataOf([
      asset('same', { files: [same], before: { ...earlier, changed: [], files: [same] } }),
      asset('edited', { files: [same], before: { ...earlier, files: [other] } }),
      asset('added', { files: [same], before: null }),
      asset('lost', { files: [same], before: { ...earlier, files: [] } }),
    ]);
    const report = { made: 0, compare: { ref: 'main', commit: 'abcdef0123456789' } };
    const { detail, sections } = listContents({ ...data, report });
    const tiles = sections.flatMap((section) => section.tiles);
    expect(tiles.map(({ caption }) => caption[0])).toEqual(['edited', 'added', 'lost']);
    expect(tiles.map(({ sides }) => sides.map(({ label }) => label))).toEqual(Array(3).fill(['before', 'after']));
    expect(tiles.map(({ sides }) => sides[0]?.words)).toEqual([
      expect.any(String),
      'was not there',
      'its file is not on this disk any more',
    ]);
    expect(detail).toMatch(/^compared with main \(abcdef0\) · 3 changed · 1 as before/);
  });
});

describe('a sheet', () => {
  test.each(['jpeg', 'png'] as const)('is a %s that says what it is, the same at each call', async (format) => {
    const data = { ...galleryData(18), report: { made: 0 } };
    const [first] = await draw(data, { format });
    const [again] = await draw(data, { format });
    if (first === undefined || again === undefined) throw new Error('no sheet');
    expect(readPictureSize(first)?.format).toBe(format);
    expect(isMarked(Buffer.from(first.subarray(0, 200)).toString('latin1'))).toBe(true);
    expect(Buffer.compare(first, again)).toBe(0);
    const { width, height } = await decodePicture(format, new Uint8Array(first).buffer);
    expect(width).toBeGreaterThan(64 * 4);
    expect(height).toBeGreaterThan(64);
  });

  test('shows the pictures, a sign for each verdict, and words in place of what cannot be read', async () => {
    const picked = asset('p', { verdict: { is: 'picked' }, files: [file(1)] });
    const count = async (assets: ReviewAsset[], isOne: (color: number[]) => boolean, thumb = red) => {
      const [sheet] = await draw(dataOf(assets), { format: 'png', thumbOf: thumb });
      if (sheet === undefined) throw new Error('no sheet');
      return countPixels(await decodePicture('png', new Uint8Array(sheet).buffer), isOne);
    };
    const isRed = ([r = 0, g = 0, b = 0]: number[]) => r > 230 && g < 30 && b < 30;
    const isGreen = ([r = 0, g = 0, b = 0]: number[]) => r < 60 && g > 100 && b < 90;
    expect(await count([picked], isRed)).toBeGreaterThan(2000);
    expect(await count([picked], isGreen)).toBeGreaterThan(200);
    const { verdict: _none, ...plain } = picked;
    expect(await count([plain], isGreen)).toBe(0);
    const broken = async () => ({ problem: 'cannot be read' });
    expect(await count([plain], isRed, broken)).toBe(0);
  });

  test('goes on in further ones, and counts what is on none', async () => {
    const assets = Array.from({ length: 1203 }, (_, index) => asset(`a${index}`, { state: 'failed', files: [] }));
    const told: [number, number][] = [];
    const onSheet = async (_: Uint8Array, index: number, of: number) => void told.push([index, of]);
    const options: SheetOptions = { format: 'jpeg', size: 64, sheets: 2, thumbOf: red };
    const drawn = await drawSheets(dataOf(assets), options, onSheet);
    expect(told).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(drawn).toMatchObject({ sheets: 2, undrawn: [] });
    expect(drawn.tiles + drawn.left).toBe(1203);
    expect(drawn.tiles).toBeLessThanOrEqual(1000);
  });

  test('of nothing says so', async () => {
    const [sheet, ...more] = await draw(dataOf([]), { format: 'png' });
    expect(sheet).toBeDefined();
    expect(more).toEqual([]);
  });
});

async function draw(data: ReviewData, options: Partial<SheetOptions>): Promise<Uint8Array[]> {
  const sheets: Uint8Array[] = [];
  const all: SheetOptions = { format: 'png', size: 64, thumbOf: red, ...options };
  await drawSheets(data, all, async (bytes) => void sheets.push(bytes));
  return sheets;
}

async function red(): Promise<{ jpeg: Uint8Array } | { problem: string }> {
  const data = new Uint8ClampedArray(64 * 48 * 4).map((_, index) => (index % 4 === 0 || index % 4 === 3 ? 255 : 0));
  return { jpeg: await encodeJpeg({ data, width: 64, height: 48 }) };
}

function countPixels({ data }: Pixels, isOne: (color: number[]) => boolean): number {
  let count = 0;
  for (let at = 0; at < data.length; at += 4) if (isOne([...data.subarray(at, at + 3)])) count += 1;
  return count;
}

function dataOf(assets: ReviewAsset[]): ReviewData {
  const groups = assets.map(({ address, task }, index) => ({ name: address, task, differBy: [], members: [index] }));
  return { version: 1, revision: 1, campaign: 'c', file: 'campaign.yaml', canDecide: false, groups, assets };
}
