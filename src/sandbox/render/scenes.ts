import type { Canvas, Outline, Paint } from './canvas.ts';
import { type Color, mix, type Palette } from './color.ts';
import { between, pick, type Random, wholeBetween } from './random.ts';
import { band, circle, rectangle, ring, slice } from './shapes.ts';

/** What is drawn over the ground. Each scene fits any shape of canvas, from 1:8 to 8:1. */
export type Scene = (canvas: Canvas, palette: Palette, random: Random) => void;

export const scenes: readonly Scene[] = [drawHills, drawDiscs, drawTiles, drawRibbons];

function plain(color: Color, opacity: number): Paint {
  return { top: color, bottom: color, opacity };
}

/** Ridges in the haze under a sun. */
function drawHills(canvas: Canvas, palette: Palette, random: Random): void {
  const { width, height } = canvas;
  const short = Math.min(width, height);
  const sunX = width * between(random, 0.25, 0.75);
  const sunY = height * between(random, 0.2, 0.4);
  const radius = short * between(random, 0.09, 0.15);
  for (const [grow, opacity] of [
    [3.4, 0.1],
    [2.4, 0.14],
    [1.6, 0.2],
    [1, 0.95],
  ] as const) {
    canvas.fill([circle(sunX, sunY, radius * grow)], plain(palette.light, opacity));
  }
  const ridges = wholeBetween(random, 5, 7);
  const [above = palette.light, middle = palette.light] = palette.ground;
  const haze = mix(mix(above, middle, 0.5), palette.light, 0.3);
  const near = mix(palette.accents[4] ?? palette.dark, palette.dark, 0.55);
  for (let index = 0; index < ridges; index += 1) {
    const depth = index / (ridges - 1);
    const base = height * (0.46 + 0.5 * depth ** 1.15);
    const waves = Array.from({ length: 5 }, (_, octave) => ({
      length: (short * between(random, 1.1, 1.9)) / 1.9 ** octave,
      reach: (short * 0.085 * (1.25 - 0.5 * depth)) / 1.75 ** octave,
      phase: random() * 2 * Math.PI,
    }));
    const ridge = (x: number) =>
      waves.reduce((y, { length, reach, phase }) => y - reach * Math.sin((x / length) * 2 * Math.PI + phase), base);
    const color = mix(haze, near, 0.14 + 0.86 * depth ** 0.9);
    const bottom = depth === 1 ? mix(color, palette.dark, 0.5) : mix(color, haze, 0.45);
    canvas.fill([band(width, ridge, () => height)], { top: color, bottom, opacity: 1 });
  }
}

/** Discs and rings that overlap. */
function drawDiscs(canvas: Canvas, palette: Palette, random: Random): void {
  const { width, height } = canvas;
  const short = Math.min(width, height);
  const count = wholeBetween(random, 6, 8) + Math.min(8, Math.round(Math.max(width, height) / short - 1) * 2);
  for (let index = 0; index < count; index += 1) {
    const radius = short * between(random, 0.12, 0.42) * (index < 2 ? 1.15 : 1);
    const x = width * between(random, 0.02, 0.98);
    const y = height * between(random, 0.02, 0.9);
    const color = pick(random, palette.accents);
    const paint = { top: mix(color, palette.light, 0.35), bottom: color, opacity: between(random, 0.6, 0.92) };
    canvas.fill([circle(x, y, radius)], paint);
    if (random() < 0.5) {
      const radius2 = radius * between(random, 1.12, 1.5);
      const thickness = short * pick(random, [0.004, 0.008, 0.016]);
      canvas.fill(ring(x, y, { radius: radius2, thickness }), plain(palette.light, 0.55));
    }
    if (random() < 0.3) canvas.fill([circle(x, y, radius * 0.16)], plain(palette.light, 0.85));
  }
}

/** A board of quarters, halves and discs. */
function drawTiles(canvas: Canvas, palette: Palette, random: Random): void {
  const { width, height } = canvas;
  const perShortSide = wholeBetween(random, 3, 5);
  const columns = Math.max(1, Math.round((width / Math.min(width, height)) * perShortSide));
  const rows = Math.max(1, Math.round((height / Math.min(width, height)) * perShortSide));
  const [cellWidth, cellHeight] = [width / columns, height / rows];
  const size = Math.min(cellWidth, cellHeight);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const [x, y] = [column * cellWidth, row * cellHeight];
      const [back, front, spot] = [pick(random, palette.accents), pick(random, palette.accents), random()];
      if (random() < 0.72) {
        canvas.fill([rectangle(x, y, { width: cellWidth, height: cellHeight })], plain(back, 0.82));
      }
      const color = front === back ? palette.light : front;
      canvas.fill(tileMotif(random, { x, y, width: cellWidth, height: cellHeight, size }), plain(color, 0.92));
      if (spot < 0.22)
        canvas.fill([circle(x + cellWidth / 2, y + cellHeight / 2, size * 0.13)], plain(palette.light, 0.9));
    }
  }
}

function tileMotif(
  random: Random,
  cell: { x: number; y: number; width: number; height: number; size: number },
): Outline[] {
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

/** Translucent ribbons that flow across. */
function drawRibbons(canvas: Canvas, palette: Palette, random: Random): void {
  const { width, height } = canvas;
  const short = Math.min(width, height);
  const count = wholeBetween(random, 7, 10);
  const swing = short * between(random, 0.1, 0.2);
  const length = short * between(random, 1.2, 2.2);
  const phase = random() * 2 * Math.PI;
  for (let index = 0; index < count; index += 1) {
    const share = index / (count - 1);
    const base = height * (-0.02 + 0.95 * share);
    const thickness = short * between(random, 0.1, 0.3);
    const turn = phase + share * 3.4;
    const upper = (x: number) =>
      base +
      swing * Math.sin((x / length) * 2 * Math.PI + turn) +
      swing * 0.4 * Math.sin((x / length) * 3.7 * Math.PI - turn);
    const lower = (x: number) => upper(x) + thickness * (1.1 + 0.7 * Math.sin((x / length) * 1.6 * Math.PI + turn * 2));
    const color = palette.accents[index % palette.accents.length] ?? palette.light;
    canvas.fill([band(width, upper, lower)], {
      top: mix(color, palette.light, 0.35),
      bottom: color,
      opacity: between(random, 0.5, 0.8),
    });
    canvas.fill([band(width, upper, (x) => upper(x) + short * 0.004)], plain(palette.light, 0.6));
  }
}
