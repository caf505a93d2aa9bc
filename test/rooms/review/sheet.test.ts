import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { ReviewAsset, ReviewData } from '../../../src/contract/review.ts';
import { drawSheets, encodeSheet, type SheetOptions } from '../../../src/review/sheet/draw-sheets.ts';
import type { Metrics } from '../../../src/review/sheet/layout.ts';
import { isMarked } from '../../../src/review/sheet/mark-picture.ts';
import { SheetPainter } from '../../../src/review/sheet/paint-sheet.ts';
import { listContents } from '../../../src/review/sheet/tiles.ts';
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
    expect(isMarked(Buffer.from(first.subarray(0, 200)).toString('latin1'))).toBe(true);
    expect(Buffer.compare(first, again)).toBe(0);
    const { width, height, ...other } = await sharp(first).metadata();
    expect(other.format).toBe(format);
    expect(width).toBeGreaterThan(64 * 4);
    expect(height).toBeGreaterThan(64);
  });

  test('shows the pictures, a sign for each verdict, and words in place of what cannot be read', async () => {
    const picked = asset('p', { verdict: { is: 'picked' }, files: [file(1)] });
    const count = async (assets: ReviewAsset[], isOne: (color: number[]) => boolean, thumb = red) => {
      const [sheet] = await draw(dataOf(assets), { format: 'png', thumbOf: thumb });
      if (sheet === undefined) throw new Error('no sheet');
      return countPixels(sheet, isOne);
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

  test('draws the waveform of a sound above its words', async () => {
    const song = dataOf([asset('song', { kind: 'music', files: [file(1, 'audio')] })]);
    const ink = async (wave?: string) => {
      const [sheet = new Uint8Array()] = await draw(song, {
        ...{ format: 'png', size: 256 },
        factsOf: async () => ({ durationSeconds: 62, ...(wave !== undefined && { wave }) }),
      });
      return countPixels(sheet, ([r = 255]) => r < 160);
    };
    const [words, quiet, loud] = [await ink(), await ink('0'.repeat(120)), await ink('z'.repeat(120))];
    expect(quiet).toBeGreaterThanOrEqual(words);
    expect(loud - words).toBeGreaterThan(3000);
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
    expect(drawn).toMatchObject({ sheets: 2, otherScripts: [] });
    expect(drawn.tiles + drawn.left).toBe(1203);
    expect(drawn.tiles).toBeLessThanOrEqual(1000);
  });

  test.each([
    ['Latin', 'Größe Đặng'],
    ['Cyrillic', 'герой'],
    ['Greek', 'λάμπα'],
    ['Arabic', 'مصباح'],
    ['Hebrew', 'מנורה'],
    ['Devanagari', 'दीपक'],
    ['Thai', 'โคมไฟ'],
  ])('has captions in %s, in letters that come with this package', async (_, name) => {
    const { otherScripts } = await drawSheets(
      dataOf([asset(name, failed)]),
      { format: 'png', thumbOf: red },
      async () => {},
    );
    expect(otherScripts).toEqual([]);
    // No two words look alike, as they would in boxes for signs that no font has.
    const swapped = [...name].reverse().join('');
    expect(await inkOf(name)).not.toEqual(await inkOf(swapped));
    expect(await countPixels(await inkOf(name), ([r = 255]) => r < 128)).toBeGreaterThan(50);
  });

  test('names captions that only fonts of the system can write', async () => {
    const assets = ['木の机', 'desk', 'desk 🎬'].map((name) => asset(name, failed));
    const { otherScripts } = await drawSheets(dataOf(assets), { format: 'png', thumbOf: red }, async () => {});
    expect(otherScripts).toEqual(['木の机', 'desk 🎬']);
  });

  test('leaves out the middle of what is too long, and keeps what it says: it is no markup', () => {
    const painter = new SheetPainter({ metrics: metrics(120), letters: 13, width: 400, height: 300 });
    const caption = ['hero@walnut-side-table-with-drawers,16:9', '<b>&"\'', 'नमस्ते'.repeat(9), 'hero@مصباح,16:9'];
    painter.tile({ sides: [], caption }, { x: 0, y: 0, height: 100, sides: [] });
    const written = [...painter.svg().matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, text]) => text);
    expect(written).toEqual([
      expect.stringMatching(/^hero@\S+…\S*16:9$/),
      '&#60;b&#62;&#38;&#34;&#39;',
      expect.stringMatching(/^(?:नमस्ते|न|म|स्ते)+…(?:न|म|स्ते)+$/),
      'hero@\u2068مصباح\u2069,16:9',
    ]);
  });

  test('of nothing says so', async () => {
    const [sheet, ...more] = await draw(dataOf([]), { format: 'png' });
    expect(sheet).toBeDefined();
    expect(more).toEqual([]);
  });
});

const failed: Partial<ReviewAsset> = { state: 'failed', files: [] };

function metrics(size: number): Metrics {
  return { size, sides: 1, columns: 3, margin: 20, gap: 10, seam: 4, head: 50, title: 30, line: 18, label: 18 };
}

/** A line of text, drawn. */
function inkOf(text: string): Promise<Uint8Array> {
  const painter = new SheetPainter({ metrics: metrics(300), letters: 20, width: 340, height: 60 });
  painter.tile({ sides: [], caption: [text] }, { x: 4, y: 0, height: 10, sides: [] });
  return encodeSheet(painter.svg(), 'png');
}

async function draw(data: ReviewData, options: Partial<SheetOptions>): Promise<Uint8Array[]> {
  const sheets: Uint8Array[] = [];
  const all: SheetOptions = { format: 'png', size: 64, thumbOf: red, ...options };
  await drawSheets(data, all, async (bytes) => void sheets.push(bytes));
  return sheets;
}

async function red(): Promise<{ jpeg: Uint8Array } | { problem: string }> {
  const plain = sharp({ create: { width: 64, height: 48, channels: 3, background: '#f00' } });
  return { jpeg: await plain.jpeg().toBuffer() };
}

async function countPixels(picture: Uint8Array, isOne: (color: number[]) => boolean): Promise<number> {
  const data = await sharp(picture).removeAlpha().raw().toBuffer();
  let count = 0;
  for (let at = 0; at < data.length; at += 3) if (isOne([...data.subarray(at, at + 3)])) count += 1;
  return count;
}

function dataOf(assets: ReviewAsset[]): ReviewData {
  const groups = assets.map(({ address, task }, index) => ({ name: address, task, differBy: [], members: [index] }));
  return { version: 1, revision: 1, campaign: 'c', file: 'campaign.yaml', canDecide: false, groups, assets };
}
