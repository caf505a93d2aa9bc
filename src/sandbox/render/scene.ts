import type { Canvas, Paint } from './canvas.ts';
import type { Color, Palette } from './color.ts';
import type { Random } from './random.ts';

/**
 * The motif drawn over the ground. Fits any shape of canvas, from 1:8 to 8:1. Everything random is drawn before the
 * first stroke, so that the moments of a film show one scene.
 */
export type Scene = (size: Size, palette: Palette, random: Random) => Drawing;

/** Draws the scene as it is so many seconds after its start. */
export type Drawing = (canvas: Canvas, seconds: number) => void;

/** Pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export function plain(color: Color, opacity: number): Paint {
  return { top: color, bottom: color, opacity };
}
