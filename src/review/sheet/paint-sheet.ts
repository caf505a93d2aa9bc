import { xmlText } from '../../report/diagram/svg-style.ts';
import { cutMiddle, displayWidth, wrapText } from '../../report/text-width.ts';
import { type Metrics, type SheetPlan, widthOf } from './layout.ts';
import type { ReadSide, Tile } from './tiles.ts';

/** Parts of an address, and what stands between marks on a line. */
const words = /[^@,·|()“”]+/gu;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Line {
  x: number;
  baseline: number;
  size: number;
  color?: string;
  anchor?: 'middle' | 'end';
  /** Wider text loses its middle. */
  most?: number;
}

const paper = '#ffffff';
const ink = '#1c1c22';
const faint = '#62626c';
const ground = '#f1f1f4';
const line = '#d6d6dc';
const red = '#b0202c';
const green = '#167a42';
/** How much of a rejected picture is left. */
const faded = 0.45;
/** How much of a box the waveform of a sound has, above its words. */
const waveShare = 0.6;
/** Signs of verdicts, in a box of 100 by 100: no font need have them. */
const tick = 'M22 52 32 42 43 54 70 26 80 36 43 74Z';
const cross = 'M25 33 33 25 75 67 67 75ZM33 75 75 33 67 25 25 67Z';

/** Writes one sheet as SVG, part by part. */
export class SheetPainter {
  readonly #parts: string[] = [];
  readonly #metrics: Metrics;
  /** Size of captions. */
  readonly #letters: number;
  readonly #width: number;
  readonly #height: number;

  constructor(sheet: { metrics: Metrics; letters: number; width: number; height: number }) {
    this.#metrics = sheet.metrics;
    this.#letters = sheet.letters;
    this.#width = sheet.width;
    this.#height = sheet.height;
    this.#fill({ x: 0, y: 0, width: sheet.width, height: sheet.height }, paper);
  }

  svg(): string {
    const size = `width="${this.#width}" height="${this.#height}"`;
    const start = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="Noto Sans, sans-serif" xml:space="preserve">`;
    return `${start}${this.#parts.join('')}</svg>`;
  }

  /** `place`: which sheet it is, and what is on none. */
  head(title: string, detail: string, place: string): void {
    const { margin } = this.#metrics;
    const letters = this.#letters;
    const right = this.#width - margin;
    const baseline = margin + letters;
    const room = right - margin - letters - widthOfText(place, letters);
    this.#write(title, { x: margin, baseline, size: letters * 1.75, most: room });
    this.#write(place, { x: right, baseline, size: letters, color: faint, anchor: 'end' });
    this.#write(detail, {
      x: margin,
      baseline: margin + letters * 3,
      size: letters,
      color: faint,
      most: right - margin,
    });
  }

  title({ section, isContinued, y }: SheetPlan['titles'][number]): void {
    const { margin } = this.#metrics;
    const letters = this.#letters;
    const size = Math.round(letters * 1.3);
    const width = this.#width - 2 * margin;
    this.#fill({ x: margin, y, width, height: 1 }, line);
    const detail = isContinued ? `${section.detail} · continued` : section.detail;
    const room = width - Math.min(width / 2, widthOfText(section.title, size)) - letters;
    const behind = `<tspan dx="${letters}" font-size="${letters}" fill="${faint}">${lineXml(detail, letters, room)}</tspan>`;
    const at = { x: margin, baseline: y + Math.round(letters * 1.9), size, most: width / 2 };
    this.#write(section.title, at, behind);
  }

  tile(tile: Tile, place: { x: number; y: number; height: number; sides: readonly ReadSide[] }): void {
    const { size, seam, line: step, label } = this.#metrics;
    const { y, height, sides } = place;
    for (const [index, side] of sides.entries()) {
      const x = place.x + index * (size + seam);
      const above = side.label === undefined ? 0 : label;
      if (side.label !== undefined) {
        this.#write(side.label, { x, baseline: y + this.#letters, size: this.#letters - 1, color: faint });
      }
      const isJudged = index === sides.length - 1;
      this.#side(side, { x, y: y + above, width: size, height: height - above }, isJudged ? tile.verdict : undefined);
    }
    for (const [index, text] of tile.caption.entries()) {
      const color = index === 0 ? ink : faint;
      const baseline = y + height + Math.round(step * (index + 0.95));
      this.#write(text, { x: place.x, baseline, size: this.#letters, color, most: widthOf(this.#metrics) });
    }
  }

  #side({ picture, wave, words, isBad }: ReadSide, box: Box, verdict: Tile['verdict']): void {
    this.#fill(box, ground);
    let shown = box;
    if (picture === undefined) {
      if (isBad) this.#frame(box, 1, red);
      const drawn = wave === undefined ? 0 : Math.round(box.height * waveShare);
      if (wave !== undefined) this.#wave(wave, { ...box, height: drawn });
      this.#wrap(words, { ...box, y: box.y + drawn, height: box.height - drawn }, isBad ? red : faint);
    } else {
      const { width, height } = fitInto(picture, this.#metrics.size);
      shown = { x: box.x + ((box.width - width) >> 1), y: box.y + ((box.height - height) >> 1), width, height };
      this.#fill(shown, paper);
      const jpeg = Buffer.from(picture.jpeg).toString('base64');
      const opacity = verdict === 'rejected' ? ` opacity="${faded}"` : '';
      this.#parts.push(`<image ${placeOf(shown)}${opacity} href="data:image/jpeg;base64,${jpeg}"/>`);
    }
    if (verdict !== undefined) this.#judge(shown, verdict);
  }

  #judge(shown: Box, verdict: 'picked' | 'rejected'): void {
    const color = verdict === 'rejected' ? red : green;
    this.#frame(shown, Math.max(2, this.#letters >> 2), color);
    const side = Math.round(this.#letters * 1.8);
    const [x, y] = [shown.x + shown.width - side, shown.y];
    this.#fill({ x, y, width: side, height: side }, color);
    const sign = verdict === 'rejected' ? cross : tick;
    this.#parts.push(`<path d="${sign}" fill="${paper}" transform="translate(${x} ${y}) scale(${side / 100})"/>`);
  }

  /** Mirrored bars across a box. */
  #wave(wave: readonly number[], { x, y, width, height }: Box): void {
    const [step, middle] = [(width - 2 * this.#letters) / wave.length, y + height / 2];
    const bars = wave.map((peak, index) => {
      const half = Math.max(0.5, peak * (middle - y - this.#letters / 2));
      const at = (x + this.#letters + (index + 0.5) * step).toFixed(1);
      return `M${at} ${(middle - half).toFixed(1)}V${(middle + half).toFixed(1)}`;
    });
    this.#parts.push(`<path d="${bars.join('')}" stroke="${faint}" stroke-width="${(step * 0.7).toFixed(2)}"/>`);
  }

  /** Words in the middle of a box, on as many lines as there is room for. */
  #wrap(words: string, { x, y, width, height }: Box, color: string): void {
    const size = this.#letters;
    const step = Math.round(size * 1.4);
    const maxLines = Math.max(1, Math.floor((height - size) / step));
    const lines = wrapText(words, columnsIn(width - 2 * size, size), { maxLines });
    const first = y + Math.round((height - lines.length * step) / 2 + size);
    for (const [index, text] of lines.entries()) {
      this.#write(text, { x: x + width / 2, baseline: first + index * step, size, color, anchor: 'middle' });
    }
  }

  #fill(box: Box, color: string): void {
    this.#parts.push(`<rect ${placeOf(box)} fill="${color}"/>`);
  }

  /** Lines inside the edges of a box. */
  #frame({ x, y, width, height }: Box, thickness: number, color: string): void {
    const inner = { x: x + thickness / 2, y: y + thickness / 2, width: width - thickness, height: height - thickness };
    this.#parts.push(`<rect ${placeOf(inner)} fill="none" stroke="${color}" stroke-width="${thickness}"/>`);
  }

  /** `behind`: XML that follows on the line. */
  #write(text: string, { x, baseline, size, color = ink, anchor, most }: Line, behind = ''): void {
    const anchored = anchor === undefined ? '' : ` text-anchor="${anchor}"`;
    const attributes = `x="${x}" y="${baseline}" font-size="${size}" fill="${color}"${anchored}`;
    this.#parts.push(`<text ${attributes}>${lineXml(text, size, most)}${behind}</text>`);
  }
}

/** Returns the size at which a picture of this shape is drawn; nothing is made larger. */
export function fitInto(picture: { width: number; height: number }, size: number): { width: number; height: number } {
  const scale = Math.min(1, size / Math.max(picture.width, picture.height));
  return { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) };
}

function placeOf({ x, y, width, height }: Box): string {
  return `x="${x}" y="${y}" width="${width}" height="${height}"`;
}

/** Width of a column in sizes of the letters: about what Noto Sans takes. */
const columnShare = 0.57;

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Signs of the fonts that come with this package. */
const shippedSigns =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Devanagari}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}\p{M}\u0020-\u024f\u2000-\u206f\u20a0-\u20bf]*$/u;

function columnsIn(room: number, size: number): number {
  return Math.max(1, Math.floor(room / (size * columnShare)));
}

/** About as wide as a text comes out, in pixels. */
function widthOfText(text: string, size: number): number {
  return Math.ceil(displayWidth(text) * size * columnShare);
}

/** Writes as much of a line as fits, its middle left out; as XML. */
function lineXml(text: string, size: number, room = Number.POSITIVE_INFINITY): string {
  return xmlText(isolateWords(cutMiddle(text, columnsIn(room, size))));
}

/** Makes each part of an address a whole of its own: else numbers after Arabic letters would stand before them. */
function isolateWords(text: string): string {
  return text.replace(words, (word) => (rightToLeft.test(word) ? `\u2068${word}\u2069` : word));
}

/** Whether the fonts of this package can write it wherever it is drawn. */
export function isOfShippedScripts(text: string): boolean {
  return shippedSigns.test(text);
}
