import type { Canvas, Outline, Paint } from './canvas.ts';
import { type Color, mix, type Palette } from './color.ts';
import { between, pick, type Random, wholeBetween } from './random.ts';
import { type Drawing, plain, type Scene, type Size } from './scene.ts';
import { band, circle, rectangle, ring, slice } from './shapes.ts';

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
function planTiles(size: Size, palette: Palette, random: Random): Drawing {
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

interface Ribbon {
  readonly base: number;
  readonly thickness: number;
  readonly turn: number;
  readonly paint: Paint;
}

/** Translucent ribbons that flow across. */
function planRibbons({ width, height }: Size, palette: Palette, random: Random): Drawing {
  const short = Math.min(width, height);
  const count = wholeBetween(random, 7, 10);
  const swing = short * between(random, 0.1, 0.2);
  const length = short * between(random, 1.2, 2.2);
  const phase = random() * 2 * Math.PI;
  const ribbons: Ribbon[] = Array.from({ length: count }, (_, index) => {
    const share = index / (count - 1);
    const thickness = short * between(random, 0.1, 0.3);
    const color = palette.accents[index % palette.accents.length] ?? palette.light;
    const paint = { top: mix(color, palette.light, 0.35), bottom: color, opacity: between(random, 0.5, 0.8) };
    return { base: height * (-0.02 + 0.95 * share), thickness, turn: phase + share * 3.4, paint };
  });
  return (canvas: Canvas, seconds: number) => {
    for (const { base, thickness, turn: firstTurn, paint } of ribbons) {
      const turn = firstTurn + seconds * 0.55;
      const upper = (x: number) =>
        base +
        swing * Math.sin((x / length) * 2 * Math.PI + turn) +
        swing * 0.4 * Math.sin((x / length) * 3.7 * Math.PI - turn);
      const lower = (x: number) =>
        upper(x) + thickness * (1.1 + 0.7 * Math.sin((x / length) * 1.6 * Math.PI + turn * 2));
      canvas.fill([band(width, upper, lower)], paint);
      canvas.fill([band(width, upper, (x) => upper(x) + short * 0.004)], plain(palette.light, 0.6));
    }
  };
}

const halo = [
  [3.4, 0.1],
  [2.4, 0.14],
  [1.6, 0.2],
  [1, 0.95],
] as const;

interface Ridge {
  readonly heightAt: (x: number) => number;
  /** Pixels that it moves to the left in a second. */
  readonly speed: number;
  readonly paint: Paint;
}

/** Ridges in the haze under a sun. The near ones pass by faster, and the sun climbs. */
function planHills(size: Size, palette: Palette, random: Random): Drawing {
  const { width, height } = size;
  const short = Math.min(width, height);
  const sunX = width * between(random, 0.25, 0.75);
  const sunY = height * between(random, 0.2, 0.4);
  const radius = short * between(random, 0.09, 0.15);
  const ridges = planRidges(size, palette, random);
  return (canvas: Canvas, seconds: number) => {
    const climbed = short * 0.2 * (1 - Math.exp(-seconds / 9));
    for (const [grow, opacity] of halo) {
      canvas.fill([circle(sunX + climbed * 0.35, sunY - climbed, radius * grow)], plain(palette.light, opacity));
    }
    for (const { heightAt, speed, paint } of ridges) {
      const passed = speed * seconds;
      const line = (x: number) => heightAt(x + passed);
      canvas.fill([band(width, line, () => height)], paint);
    }
  };
}

function planRidges({ width, height }: Size, palette: Palette, random: Random): Ridge[] {
  const short = Math.min(width, height);
  const count = wholeBetween(random, 5, 7);
  const [above = palette.light, middle = palette.light] = palette.ground;
  const haze = mix(mix(above, middle, 0.5), palette.light, 0.3);
  const near = mix(palette.accents[4] ?? palette.dark, palette.dark, 0.55);
  return Array.from({ length: count }, (_, index) => {
    const depth = index / (count - 1);
    const base = height * (0.46 + 0.5 * depth ** 1.15);
    const waves = Array.from({ length: 5 }, (_wave, octave) => ({
      length: (short * between(random, 1.1, 1.9)) / 1.9 ** octave,
      reach: (short * 0.085 * (1.25 - 0.5 * depth)) / 1.75 ** octave,
      phase: random() * 2 * Math.PI,
    }));
    const heightAt = (x: number) =>
      waves.reduce((y, { length, reach, phase }) => y - reach * Math.sin((x / length) * 2 * Math.PI + phase), base);
    const color = mix(haze, near, 0.14 + 0.86 * depth ** 0.9);
    const bottom = depth === 1 ? mix(color, palette.dark, 0.5) : mix(color, haze, 0.45);
    return { heightAt, speed: short * (0.02 + 0.24 * depth ** 1.4), paint: { top: color, bottom, opacity: 1 } };
  });
}

interface Part {
  readonly outlinesAt: (x: number, y: number) => readonly Outline[];
  readonly paint: Paint;
}

interface Disc {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly parts: readonly Part[];
}

/** Discs and rings that overlap; each floats round its place. */
function planDiscs(size: Size, palette: Palette, random: Random): Drawing {
  const { width, height } = size;
  const short = Math.min(width, height);
  const count = wholeBetween(random, 6, 8) + Math.min(8, Math.round(Math.max(width, height) / short - 1) * 2);
  const discs = Array.from({ length: count }, (_, index) => planDisc(size, palette, { random, index }));
  return (canvas: Canvas, seconds: number) => {
    for (const [index, { x, y, radius, parts }] of discs.entries()) {
      // The small ones wander further. Measured from the start, so that the first moment is the picture.
      const reach = short * 0.4 - radius * 0.6;
      const start = index * 2.4;
      const turn = start + (seconds * 2 * Math.PI) / (11 + (index % 4) * 2);
      const movedX = x + reach * 0.8 * (Math.cos(turn) - Math.cos(start));
      const movedY = y + reach * 0.6 * (Math.sin(turn) - Math.sin(start));
      for (const { outlinesAt, paint } of parts) canvas.fill(outlinesAt(movedX, movedY), paint);
    }
  };
}

function planDisc(size: Size, palette: Palette, lot: { random: Random; index: number }): Disc {
  const { random, index } = lot;
  const short = Math.min(size.width, size.height);
  const radius = short * between(random, 0.12, 0.42) * (index < 2 ? 1.15 : 1);
  const x = size.width * between(random, 0.02, 0.98);
  const y = size.height * between(random, 0.02, 0.9);
  const color = pick(random, palette.accents);
  const paint = { top: mix(color, palette.light, 0.35), bottom: color, opacity: between(random, 0.6, 0.92) };
  const parts: Part[] = [{ outlinesAt: (atX, atY) => [circle(atX, atY, radius)], paint }];
  if (random() < 0.5) {
    const outer = radius * between(random, 1.12, 1.5);
    const thickness = short * pick(random, [0.004, 0.008, 0.016]);
    parts.push({
      outlinesAt: (atX, atY) => ring(atX, atY, { radius: outer, thickness }),
      paint: plain(palette.light, 0.55),
    });
  }
  if (random() < 0.3) {
    parts.push({
      outlinesAt: (atX, atY) => [circle(atX, atY, radius * 0.16)],
      paint: plain(palette.light, 0.85),
    });
  }
  return { x, y, radius, parts };
}

export const scenes: readonly Scene[] = [planHills, planDiscs, planTiles, planRibbons];
