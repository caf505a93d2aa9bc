import { splitGraphemes } from '../../../report/text-width.ts';
import { decodePicture } from '../../thumbs/codecs.ts';
import type { Pixels } from '../../thumbs/shrink.ts';
import type { Canvas, Color } from '../canvas.ts';
import { type HarfBuzz, hasSign, isUnseen, type OpenFont, openFonts } from './fonts.ts';
import { outlinesOf } from './glyph-outlines.ts';
import { type Coverage, fillOutlines } from './rasterize.ts';
import { isolateWords, type Order, orderRuns, type Run } from './runs.ts';

/** What no font has a sign for is drawn as a box of so many parts of the text's size. */
const box = { width: 0.62, height: 0.7, line: 1 };
/** Places within a pixel at which the same sign is drawn. */
const steps = 4;
/** Above and below the line, in sizes: the signs of some scripts reach far, and what reaches further is cut. */
const reach = { up: 1.5, down: 0.75 };
/** How far below the line signs that are pictures begin, in sizes: the fonts say it where HarfBuzz does not read it. */
const pictureDrop = 0.22;

interface Glyph {
  id: number;
  /** Pixels; y upwards. */
  x: number;
  y: number;
  advance: number;
}

interface ShapedRun {
  font: OpenFont | undefined;
  glyphs: Glyph[];
  width: number;
}

/** Sets single lines of text in whatever scripts they are, with the fonts of this package and of the system. */
export class Typesetter {
  readonly #hb: HarfBuzz;
  readonly #fonts: readonly OpenFont[];
  readonly #order: Order;
  readonly #drawn = new Map<string, { coverage: Coverage; x: number; y: number }>();
  readonly #pictures = new Map<string, Promise<Pixels | undefined>>();
  readonly #shaped = new Map<string, ShapedRun[]>();

  private constructor(hb: HarfBuzz, fonts: readonly OpenFont[], order: Order) {
    this.#hb = hb;
    this.#fonts = fonts;
    this.#order = order;
  }

  /** `texts`: all that will be set. */
  static async open(texts: Iterable<string>): Promise<Typesetter> {
    const hb = await import('harfbuzzjs');
    // Its types are of a module, what Node loads is the function itself.
    const { default: makeBidi } = await import('bidi-js');
    const { getEmbeddingLevels } = (makeBidi as unknown as typeof makeBidi.default)();
    const order: Order = (text) => getEmbeddingLevels(text, 'ltr').levels;
    return new Typesetter(hb, await openFonts(hb, texts), order);
  }

  /** Whether it has signs that no font at hand has. */
  isShort(text: string): boolean {
    return [...text].some((sign) => !isUnseen.test(sign) && !this.#fonts.some((font) => hasSign(font, sign)));
  }

  /** Pixels. */
  width(text: string, size: number): number {
    return this.#shape(text, size).reduce((sum, run) => sum + run.width, 0);
  }

  /** The text, or as much of its beginning and end as fits, with `…` between. */
  fit(text: string, size: number, most: number): string {
    if (this.width(text, size) <= most) return text;
    const all = splitGraphemes(text);
    const cut = (kept: number) =>
      `${all.slice(0, Math.ceil(kept / 2)).join('')}…${all.slice(all.length - Math.floor(kept / 2)).join('')}`;
    let [fits, tooMany] = [0, all.length];
    while (tooMany - fits > 1) {
      const middle = (fits + tooMany) >> 1;
      if (this.width(cut(middle), size) <= most) fits = middle;
      else tooMany = middle;
    }
    return cut(fits);
  }

  /** Draws a line of text from `x` on, standing on `baseline`. */
  async draw(
    canvas: Canvas,
    text: string,
    { x, baseline, size, color }: { x: number; baseline: number; size: number; color: Color },
  ): Promise<void> {
    let pen = x;
    for (const run of this.#shape(text, size)) {
      if (run.font === undefined) this.#drawBoxes(canvas, run, { x: pen, baseline, size, color });
      else {
        let at = pen;
        for (const glyph of run.glyphs) {
          await this.#drawGlyph(canvas, run.font, { ...glyph, x: at + glyph.x }, { baseline, size, color });
          at += glyph.advance;
        }
      }
      pen += run.width;
    }
  }

  #drawBoxes(
    canvas: Canvas,
    run: ShapedRun,
    { x, baseline, size, color }: { x: number; baseline: number; size: number; color: Color },
  ): void {
    const [width, height] = [box.width, box.height].map((part) => Math.round(part * size) - 2) as [number, number];
    let at = x;
    for (const { advance } of run.glyphs) {
      canvas.frame({ x: Math.round(at) + 1, y: baseline - height, width, height }, box.line, color);
      at += advance;
    }
  }

  async #drawGlyph(
    canvas: Canvas,
    font: OpenFont,
    { id, x, y }: Glyph,
    { baseline, size, color }: { baseline: number; size: number; color: Color },
  ): Promise<void> {
    const scale = size / font.unitsPerEm;
    if (font.hasPictures) {
      const picture = await this.#pictureOf(font, id);
      if (picture === undefined) return;
      const width = font.font.glyphHAdvance(id) * scale;
      const height = (width * picture.height) / picture.width;
      canvas.stamp(picture, { x, y: baseline - y + pictureDrop * size - height, width, height });
      return;
    }
    const whole = Math.floor(x);
    const step = Math.floor((x - whole) * steps);
    const name = `${this.#fonts.indexOf(font)} ${id} ${size} ${step}`;
    const drawn = this.#drawn.get(name) ?? drawGlyph(font, id, { scale, size, shift: step / steps });
    this.#drawn.set(name, drawn);
    canvas.cover(drawn.coverage, { x: whole + drawn.x, y: baseline - Math.round(y) + drawn.y }, color);
  }

  #pictureOf(font: OpenFont, id: number): Promise<Pixels | undefined> {
    const name = `${this.#fonts.indexOf(font)} ${id}`;
    const known = this.#pictures.get(name);
    if (known !== undefined) return known;
    const png = font.font.getGlyphColorPng(id);
    const picture =
      png === undefined
        ? Promise.resolve(undefined)
        : decodePicture('png', new Uint8Array(png).buffer).catch(() => undefined);
    this.#pictures.set(name, picture);
    return picture;
  }

  #shape(given: string, size: number): ShapedRun[] {
    const text = isolateWords(given);
    const name = `${size} ${text}`;
    const known = this.#shaped.get(name);
    if (known !== undefined) return known;
    const runs = orderRuns(text, {
      order: this.#order,
      fontOf: (grapheme, before) => this.#fontOf(grapheme, before),
    });
    const shaped = runs.map((run) => this.#shapeRun(text, run, size));
    this.#shaped.set(name, shaped);
    return shaped;
  }

  /** -1: none has all its signs. Signs that several have stay in the font of what is before them. */
  #fontOf(grapheme: string, before: number): number {
    const signs = [...grapheme].filter((sign) => !isUnseen.test(sign));
    const has = (font: OpenFont | undefined) => font !== undefined && signs.every((sign) => hasSign(font, sign));
    if (/^[\s\p{P}]/u.test(grapheme) && has(this.#fonts[before])) return before;
    return signs.length === 0 ? before : this.#fonts.findIndex(has);
  }

  #shapeRun(text: string, { font: index, isRightToLeft, from, to }: Run, size: number): ShapedRun {
    const font = this.#fonts[index];
    if (font === undefined) {
      const advance = Math.round(box.width * size) + 1;
      const seen = splitGraphemes(text.slice(from, to)).filter((grapheme) => !isUnseen.test(grapheme));
      const glyphs = seen.map(() => ({ id: 0, x: 0, y: 0, advance }));
      return { font, glyphs, width: advance * glyphs.length };
    }
    const { Buffer, Direction, shape } = this.#hb;
    const buffer = new Buffer();
    buffer.addText(text, from, to - from);
    buffer.setDirection(isRightToLeft ? Direction.RTL : Direction.LTR);
    buffer.guessSegmentProperties();
    shape(font.font, buffer);
    const scale = size / font.unitsPerEm;
    const glyphs = buffer.getGlyphInfosAndPositions().map(({ codepoint, xAdvance = 0, xOffset = 0, yOffset = 0 }) => ({
      id: codepoint,
      ...{ x: xOffset * scale, y: yOffset * scale, advance: xAdvance * scale },
    }));
    return { font, glyphs, width: glyphs.reduce((sum, { advance }) => sum + advance, 0) };
  }
}

function drawGlyph(
  { font }: OpenFont,
  id: number,
  { scale, size, shift }: { scale: number; size: number; shift: number },
): { coverage: Coverage; x: number; y: number } {
  const extents = font.glyphExtents(id);
  if (extents === undefined || extents.width === 0) return { coverage: fillOutlines([], 0, 0), x: 0, y: 0 };
  const left = Math.floor(extents.xBearing * scale) - 1;
  const top = Math.floor(-Math.min(reach.up * size, extents.yBearing * scale)) - 1;
  const bottom = Math.ceil(Math.min(reach.down * size, (Math.abs(extents.height) - extents.yBearing) * scale)) + 1;
  const width = Math.ceil((extents.xBearing + extents.width) * scale) + 2 - left;
  const outlines = outlinesOf(font.glyphToJson(id), { scale, x: shift - left, y: -top });
  return {
    coverage: fillOutlines(outlines, Math.min(width, Math.ceil(size * 12)), Math.max(1, bottom - top)),
    x: left,
    y: top,
  };
}
