import type { Canvas, Paint } from './canvas.ts';
import { mix, type Palette } from './color.ts';
import { between, type Random, wholeBetween } from './random.ts';
import { type Drawing, plain, type Size } from './scene.ts';
import { band, circle } from './shapes.ts';

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
export function planHills(size: Size, palette: Palette, random: Random): Drawing {
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
