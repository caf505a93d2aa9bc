import type { Canvas, Paint } from './canvas.ts';
import { mix, type Palette } from './color.ts';
import { between, type Random, wholeBetween } from './random.ts';
import { type Drawing, plain, type Size } from './scene.ts';
import { band } from './shapes.ts';

interface Ribbon {
  readonly base: number;
  readonly thickness: number;
  readonly turn: number;
  readonly paint: Paint;
}

/** Translucent ribbons that flow across. */
export function planRibbons({ width, height }: Size, palette: Palette, random: Random): Drawing {
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
