import { between, pick, type Random } from './random.ts';

/** Red, green, blue from 0 to 255. */
export type Color = readonly [number, number, number];

/** Colours that go together. Lists run from light to dark. */
export interface Palette {
  /** For the background: corners and blobs of a soft gradient. */
  readonly ground: readonly Color[];
  /** For shapes. */
  readonly accents: readonly Color[];
  readonly light: Color;
  readonly dark: Color;
}

/** Chosen in OKLCH, where equal steps look equal, so that every hue gives a picture of the same calm. */
export function choosePalette(random: Random): Palette {
  const hue = random() * 360;
  const turn = pick(random, [30, 45, 60, -35, -50]);
  const contrast = hue + pick(random, [150, 165, 180, 200, 120]);
  const night = random() < 0.45;
  const lift = night ? -0.3 : 0;
  const ground = [
    oklch(0.93 + lift, 0.055, hue + turn),
    oklch(0.82 + lift, 0.1, hue),
    oklch(0.7 + lift, 0.13, hue - turn * 0.6),
    oklch(0.6 + lift, 0.13, hue - turn),
    oklch(0.78 + lift, 0.1, contrast),
  ];
  const accents = [
    oklch(0.88, 0.12, contrast),
    oklch(0.76, 0.155, contrast + turn * 0.4),
    oklch(0.66, 0.17, hue + turn * 0.7),
    oklch(0.52, 0.15, hue),
    oklch(0.36, 0.11, hue - turn * 0.7),
  ];
  const light = oklch(0.97, between(random, 0.01, 0.03), contrast);
  return { ground, accents, light, dark: oklch(0.2, 0.045, hue - turn * 0.5) };
}

export function mix(from: Color, to: Color, share: number): Color {
  const step = (start: number, end: number) => start + (end - start) * share;
  return [step(from[0], to[0]), step(from[1], to[1]), step(from[2], to[2])];
}

function oklch(lightness: number, chroma: number, hueDegrees: number): Color {
  const hue = (hueDegrees * Math.PI) / 180;
  // Less chroma until the colour exists on a screen.
  for (let share = 1; share > 0; share -= 0.05) {
    const linear = oklabToLinear(lightness, chroma * share * Math.cos(hue), chroma * share * Math.sin(hue));
    if (linear.every((value) => value >= -0.0005 && value <= 1.0005)) return toBytes(linear);
  }
  return toBytes(oklabToLinear(lightness, 0, 0));
}

/** Björn Ottosson's OKLab (2020). */
function oklabToLinear(lightness: number, a: number, b: number): [number, number, number] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function toBytes(linear: readonly [number, number, number]): Color {
  const encode = (value: number) => {
    const held = Math.min(1, Math.max(0, value));
    return Math.round(255 * (held <= 0.0031308 ? 12.92 * held : 1.055 * held ** (1 / 2.4) - 0.055));
  };
  return [encode(linear[0]), encode(linear[1]), encode(linear[2])];
}
