import { Canvas } from './canvas.ts';
import { choosePalette, type Palette } from './color.ts';
import { paintGround } from './ground.ts';
import { createRandom, pick } from './random.ts';
import type { Drawing, Size } from './scene.ts';
import { scenes } from './scenes.ts';

/** All that the seed decides about a picture or a film, before anything is written on it. */
export interface Stage {
  readonly palette: Palette;
  /** The ground alone; the scene is drawn over it. */
  readonly ground: Canvas;
  readonly drawScene: Drawing;
}

export function planStage(seed: string, size: Size): Stage {
  const random = createRandom(seed);
  const palette = choosePalette(random);
  const ground = new Canvas(size.width, size.height);
  paintGround(ground, palette.ground, random);
  return { palette, ground, drawScene: pick(random, scenes)(size, palette, random) };
}
