import type { Canvas, Outline, Paint } from './canvas.ts';
import { mix, type Palette } from './color.ts';
import { between, pick, type Random, wholeBetween } from './random.ts';
import { type Drawing, plain, type Size } from './scene.ts';
import { circle, ring } from './shapes.ts';

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
export function planDiscs(size: Size, palette: Palette, random: Random): Drawing {
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
