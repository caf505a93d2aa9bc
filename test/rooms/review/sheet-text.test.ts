import { describe, expect, test } from 'vitest';
import { Canvas } from '../../../src/review/sheet/canvas.ts';
import { fillOutlines, type Outline } from '../../../src/review/sheet/text/rasterize.ts';
import { isolateWords, orderRuns } from '../../../src/review/sheet/text/runs.ts';
import { Typesetter } from '../../../src/review/sheet/text/typesetter.ts';

const rectangle = (left: number, top: number, right: number, bottom: number): Outline =>
  (
    [
      [left, top],
      [right, top],
      [right, bottom],
      [left, bottom],
    ] as const
  ).map((point) => [point]);

describe('an outline', () => {
  test('covers each pixel by its area', () => {
    const { data } = fillOutlines([rectangle(0.5, 1, 2.25, 2.5)], 4, 3);
    expect([...data]).toEqual([0, 0, 0, 0, 128, 255, 64, 0, 64, 128, 32, 0]);
  });

  test('has holes where another one runs the other way', () => {
    const hole = [...rectangle(1, 1, 3, 3)].reverse();
    const { data } = fillOutlines([rectangle(0, 0, 4, 4), hole], 4, 4);
    expect(data.filter((share) => share === 0)).toHaveLength(4);
    expect(data.filter((share) => share === 255)).toHaveLength(12);
  });

  test('is cut at the edges of its picture', () => {
    const { data } = fillOutlines([rectangle(-5, -5, 50, 50)], 3, 2);
    expect([...data]).toEqual([255, 255, 255, 255, 255, 255]);
  });

  test('of a curve has about its area', () => {
    const k = 5.523;
    const circle: Outline = [
      [[20, 10]],
      [
        [20, 10 + k],
        [10 + k, 20],
        [10, 20],
      ],
      [
        [10 - k, 20],
        [0, 10 + k],
        [0, 10],
      ],
      [
        [0, 10 - k],
        [10 - k, 0],
        [10, 0],
      ],
      [
        [10 + k, 0],
        [20, 10 - k],
        [20, 10],
      ],
    ];
    const { data } = fillOutlines([circle], 20, 20);
    const area = data.reduce((sum, share) => sum + share / 255, 0);
    expect(Math.abs(area / (Math.PI * 100) - 1)).toBeLessThan(0.03);
  });
});

describe('a line of text', () => {
  test('puts what leads from right to left in its order, and numbers within it', () => {
    const text = 'ab XYZ 12 cd';
    // X, Y and Z stand for Hebrew: what UAX #9 gives for them.
    const levels = [0, 0, 0, 1, 1, 1, 1, 2, 2, 0, 0, 0];
    const runs = orderRuns(text, { order: () => levels, fontOf: () => 0 });
    expect(runs.map(({ from, to }) => text.slice(from, to))).toEqual(['ab ', '12', 'XYZ ', ' cd']);
    expect(runs.map(({ isRightToLeft }) => isRightToLeft)).toEqual([false, false, true, false]);
  });

  test('keeps the parts of an address apart', () => {
    expect(isolateWords('hero@lamp,16:9')).toBe('hero@lamp,16:9');
    expect(isolateWords('hero@مصباح,16:9')).toBe('hero@\u2068مصباح\u2069,16:9');
  });

  test('is set in the scripts of the fonts that are shipped, with their joins', async () => {
    const texts = ['Größe Đặng', 'герой', 'λάμπα', 'مصباح', 'מנורה', 'दीपक', 'โคมไฟ', 'hero@lamp,16:9 · “2” …'];
    const setter = await Typesetter.open(texts);
    for (const text of texts) {
      expect(setter.isShort(text), text).toBe(false);
      expect(await inkOf(setter, text), text).toBeGreaterThan(50);
    }
    // Joined letters are narrower than each by itself.
    const alone = [...'مصباح'].reduce((sum, letter) => sum + setter.width(letter, 20), 0);
    expect(setter.width('مصباح', 20)).toBeLessThan(alone * 0.9);
  });

  test('loses its middle where it is too long, and whole characters only', async () => {
    const text = 'hero@walnut-side-table-with-drawers,16:9';
    const setter = await Typesetter.open([text, 'नमस्ते'.repeat(9)]);
    const cut = setter.fit(text, 13, 120);
    expect(cut).toMatch(/^hero@\S+…\S*16:9$/);
    expect(setter.width(cut, 13)).toBeLessThanOrEqual(120);
    expect(setter.fit('नमस्ते'.repeat(9), 13, 100).length).toBeLessThan(54);
    expect(setter.fit(text, 13, 0)).toBe('…');
  });

  test('has boxes for what no font has, and says so', async () => {
    // Not assigned.
    const text = '\u{3fffd}\u{3fffd}';
    const setter = await Typesetter.open([text, 'ab']);
    expect(setter.isShort(text)).toBe(true);
    expect(setter.isShort('ab\u200d\ufe0f')).toBe(false);
    expect(await inkOf(setter, text)).toBeGreaterThan(20);
  });
});

/** Pixels that are not paper. */
async function inkOf(setter: Typesetter, text: string): Promise<number> {
  const canvas = new Canvas(400, 40, [255, 255, 255]);
  await setter.draw(canvas, text, { x: 5, baseline: 28, size: 20, color: [0, 0, 0] });
  return canvas.data.filter((value, index) => index % 4 === 0 && value < 128).length;
}
