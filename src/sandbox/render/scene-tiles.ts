import type { Canvas, Outline, Paint } from './canvas.ts';
import type { Color, Palette } from './color.ts';
import { pick, type Random, wholeBetween } from './random.ts';
import { type Drawing, plain, type Size } from './scene.ts';
import { circle, rectangle, ring, slice } from './shapes.ts';

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The shorter side. */
  readonly size: number;
}

interface Tile {
  readonly cell: Cell;
  /** 1 for the rows that move to the right, −1 for the others. */
  readonly direction: number;
  readonly parts: readonly { readonly outlines: readonly Outline[]; readonly paint: Paint }[];
}

/** A board of quarters, halves and discs. Its rows slide in turn to the right and to the left, and come round again. */
export function planTiles(size: Size, palette: Palette, random: Random): Drawing {
  const { width, height } = size;
  const short = Math.min(width, height);
  const perShortSide = wholeBetween(random, 3, 5);
  const columns = Math.max(1, Math.round((width / short) * perShortSide));
  const rows = Math.max(1, Math.round((height / short) * perShortSide));
  const [cellWidth, cellHeight] = [width / columns, height / rows];
  const tiles: Tile[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const place = { x: column * cellWidth, y: row * cellHeight, width: cellWidth, height: cellHeight };
      const cell = { ...place, size: Math.min(cellWidth, cellHeight) };
      tiles.push({ cell, direction: row % 2 === 0 ? 1 : -1, parts: planParts(cell, palette, random) });
    }
  }
  return (canvas: Canvas, seconds: number) => {
    const slid = glide(seconds) * cellWidth;
    for (const { cell, direction, parts } of tiles) {
      const shift = ((slid * direction) % width) + (direction < 0 && slid !== 0 ? width : 0);
      for (const { outlines, paint } of parts) {
        canvas.fill(moveAcross(outlines, shift), paint);
        if (cell.x + cell.width + shift > width) canvas.fill(moveAcross(outlines, shift - width), paint);
      }
    }
  };
}

/** Cells passed so far: one each two seconds, with a rest on every place. */
function glide(seconds: number): number {
  const steps = Math.floor(seconds / 2);
  const share = seconds / 2 - steps;
  return steps + share * share * (3 - 2 * share);
}

function moveAcross(outlines: readonly Outline[], shift: number): readonly Outline[] {
  if (shift === 0) return outlines;
  return outlines.map((outline) => outline.map((value, index) => (index % 2 === 0 ? value + shift : value)));
}

function planParts(cell: Cell, palette: Palette, random: Random): Tile['parts'] {
  const { x, y, width, height, size } = cell;
  const parts: { outlines: readonly Outline[]; paint: Paint }[] = [];
  const add = (outlines: readonly Outline[], color: Color, opacity: number) =>
    parts.push({ outlines, paint: plain(color, opacity) });
  const [back, front, spot] = [pick(random, palette.accents), pick(random, palette.accents), random()];
  if (random() < 0.72) add([rectangle(x, y, { width, height })], back, 0.82);
  add(tileMotif(random, cell), front === back ? palette.light : front, 0.92);
  if (spot < 0.22) add([circle(x + width / 2, y + height / 2, size * 0.13)], palette.light, 0.9);
  return parts;
}

function tileMotif(random: Random, cell: Cell): Outline[] {
  const { x, y, width, height, size } = cell;
  const quarter = wholeBetween(random, 0, 3);
  const from = quarter / 4;
  const cornerX = quarter === 0 || quarter === 3 ? x : x + width;
  const cornerY = quarter < 2 ? y : y + height;
  switch (wholeBetween(random, 0, 4)) {
    case 0:
      return [slice(cornerX, cornerY, { radius: size, from, to: from + 0.25 })];
    case 1:
      return [circle(x + width / 2, y + height / 2, size * 0.4)];
    case 2: {
      // A half disc, standing on one side of the cell.
      const upright = quarter % 2 === 0;
      const flip = quarter < 2 ? 0 : 1;
      const centerX = upright ? x + width * flip : x + width / 2;
      const centerY = upright ? y + height / 2 : y + height * flip;
      const start = upright ? (flip === 0 ? -0.25 : 0.25) : flip === 0 ? 0 : 0.5;
      return [slice(centerX, centerY, { radius: size / 2, from: start, to: start + 0.5 })];
    }
    case 3:
      return [[x, y, x + width, y + (quarter < 2 ? height : 0), x, y + height]];
    default:
      return ring(x + width / 2, y + height / 2, { radius: size * 0.42, thickness: size * 0.15 });
  }
}
