import type { Pixels } from '../thumbs/shrink.ts';
import { type Box, Canvas, type Color } from './canvas.ts';
import { type Metrics, type SheetPlan, widthOf } from './layout.ts';
import type { ReadSide } from './read-sides.ts';
import type { Outline } from './text/rasterize.ts';
import type { Typesetter } from './text/typesetter.ts';
import type { Tile } from './tiles.ts';

/** A side with its pixels. */
export type OpenSide = Omit<ReadSide, 'picture'> & { pixels?: Pixels };

const paper: Color = [255, 255, 255];
const ink: Color = [28, 28, 34];
const faint: Color = [98, 98, 108];
const ground: Color = [241, 241, 244];
const line: Color = [214, 214, 220];
const red: Color = [176, 32, 44];
const green: Color = [22, 122, 66];
/** How much of a rejected picture the paper takes. */
const fade = 0.55;

/** Draws one sheet, part by part. */
export class SheetPainter {
  readonly canvas: Canvas;
  readonly #setter: Typesetter;
  readonly #metrics: Metrics;
  /** Size of captions. */
  readonly #letters: number;

  constructor(setter: Typesetter, sheet: { metrics: Metrics; letters: number; width: number; height: number }) {
    this.canvas = new Canvas(sheet.width, sheet.height, paper);
    this.#setter = setter;
    this.#metrics = sheet.metrics;
    this.#letters = sheet.letters;
  }

  /** `place`: which sheet it is, and what is on none. */
  async head(title: string, detail: string, place: string): Promise<void> {
    const { margin } = this.#metrics;
    const letters = this.#letters;
    const right = this.canvas.width - margin;
    const placeAt = right - this.#setter.width(place, letters);
    const room = placeAt - margin - letters;
    await this.#write(title, { x: margin, baseline: margin + letters, size: letters * 1.75, most: room });
    await this.#write(place, { x: placeAt, baseline: margin + letters, size: letters, color: faint });
    const below = { x: margin, baseline: margin + letters * 3, size: letters, color: faint };
    await this.#write(detail, { ...below, most: right - margin });
  }

  async title({ section, isContinued, y }: SheetPlan['titles'][number]): Promise<void> {
    const { margin } = this.#metrics;
    const size = Math.round(this.#letters * 1.3);
    const right = this.canvas.width - margin;
    this.canvas.fill({ x: margin, y, width: right - margin, height: 1 }, line);
    const baseline = y + Math.round(this.#letters * 1.9);
    const x = margin + (await this.#write(section.title, { x: margin, baseline, size, most: (right - margin) / 2 }));
    const detail = isContinued ? `${section.detail} · continued` : section.detail;
    const at = { x: x + this.#letters, baseline, size: this.#letters, color: faint };
    await this.#write(detail, { ...at, most: right - x - this.#letters });
  }

  async tile(tile: Tile, place: { x: number; y: number; height: number; sides: OpenSide[] }): Promise<void> {
    const { size, seam, line: step, label } = this.#metrics;
    const { y, height, sides } = place;
    for (const [index, side] of sides.entries()) {
      const x = place.x + index * (size + seam);
      const above = side.label === undefined ? 0 : label;
      if (side.label !== undefined) {
        await this.#write(side.label, { x, baseline: y + this.#letters, size: this.#letters - 1, color: faint });
      }
      const isJudged = index === sides.length - 1;
      const box = { x, y: y + above, width: size, height: height - above };
      await this.#side(side, box, isJudged ? tile.verdict : undefined);
    }
    for (const [index, text] of tile.caption.entries()) {
      const color = index === 0 ? ink : faint;
      const baseline = y + height + Math.round(step * (index + 0.95));
      await this.#write(text, { x: place.x, baseline, size: this.#letters, color, most: widthOf(this.#metrics) });
    }
  }

  async #side({ pixels, words, isBad }: OpenSide, box: Box, verdict: Tile['verdict']): Promise<void> {
    const isRejected = verdict === 'rejected';
    this.canvas.fill(box, ground);
    let shown = box;
    if (pixels === undefined) {
      if (isBad) this.canvas.frame(box, 1, red);
      await this.#wrap(words, box, isBad ? red : faint);
    } else {
      const { width, height } = pixels;
      const [x, y] = [box.x + ((box.width - width) >> 1), box.y + ((box.height - height) >> 1)];
      shown = { x, y, width, height };
      this.canvas.picture(pixels, shown, isRejected ? { to: paper, by: fade } : undefined);
    }
    if (verdict === undefined) return;
    const color = isRejected ? red : green;
    this.canvas.frame(shown, Math.max(2, this.#letters >> 2), color);
    const side = Math.round(this.#letters * 1.8);
    const badge = { x: shown.x + shown.width - side, y: shown.y, width: side, height: side };
    this.canvas.fill(badge, color);
    for (const outline of isRejected ? cross(side) : tick(side)) this.canvas.outlines([outline], badge, paper);
  }

  /** Words in the middle of a box, on as many lines as there is room for. */
  async #wrap(words: string, { x, y, width, height }: Box, color: Color): Promise<void> {
    const size = this.#letters;
    const room = width - 2 * size;
    const step = Math.round(size * 1.4);
    const most = Math.max(1, Math.floor((height - size) / step));
    const lines = [''];
    for (const word of words.split(' ')) {
      const last = lines.length - 1;
      const longer = lines[last] ? `${lines[last]} ${word}` : word;
      if (lines[last] === '' || lines.length === most || this.#setter.width(longer, size) <= room) lines[last] = longer;
      else lines.push(word);
    }
    let baseline = y + Math.round((height - lines.length * step) / 2 + size);
    for (const text of lines) {
      const fitting = this.#setter.fit(text, size, room);
      const left = x + Math.round((width - this.#setter.width(fitting, size)) / 2);
      await this.#setter.draw(this.canvas, fitting, { x: left, baseline, size, color });
      baseline += step;
    }
  }

  /** How wide it has come out. */
  async #write(text: string, { most = Number.POSITIVE_INFINITY, color = ink, ...at }: Line): Promise<number> {
    const fitting = this.#setter.fit(text, at.size, most);
    await this.#setter.draw(this.canvas, fitting, { ...at, color });
    return this.#setter.width(fitting, at.size);
  }
}

interface Line {
  x: number;
  baseline: number;
  size: number;
  color?: Color;
  /** Wider text loses its middle. */
  most?: number;
}

/** Signs of verdicts: no font need have them. */
function tick(side: number): Outline[] {
  return [polygon(side, [0.22, 0.52], [0.32, 0.42], [0.43, 0.54], [0.7, 0.26], [0.8, 0.36], [0.43, 0.74])];
}

function cross(side: number): Outline[] {
  const bar = (mirror: (x: number) => number) =>
    polygon(
      side,
      ...[
        [0.25, 0.33],
        [0.33, 0.25],
        [0.75, 0.67],
        [0.67, 0.75],
      ].map(([x = 0, y = 0]) => [mirror(x), y] as const),
    );
  return [bar((x) => x), bar((x) => 1 - x)];
}

function polygon(side: number, ...points: (readonly [number, number])[]): Outline {
  return points.map(([x, y]) => [[x * side, y * side]]);
}
