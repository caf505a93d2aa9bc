import { readFile } from 'node:fs/promises';
import { Canvas } from './canvas.ts';
import { drawCaption } from './caption.ts';
import { choosePalette } from './color.ts';
import { type Font, readFont } from './font.ts';
import { paintGround } from './ground.ts';
import { encodePng } from './png.ts';
import { createRandom, pick } from './random.ts';
import { scenes } from './scenes.ts';

export interface PictureOrder {
  readonly seed: string;
  readonly prompt: string;
  readonly footer: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

let font: Font | undefined;

/** A PNG: a scene in colours drawn from the seed, with the prompt on it. */
export async function drawPicture(order: PictureOrder): Promise<Uint8Array> {
  font ??= readFont(await readFile(new URL('../assets/sandbox-sans.ttf', import.meta.url)));
  const random = createRandom(order.seed);
  const palette = choosePalette(random);
  const canvas = new Canvas(order.width, order.height);
  paintGround(canvas, palette.ground, random);
  pick(random, scenes)(canvas, palette, random);
  drawCaption(canvas, { font, palette, prompt: order.prompt, footer: order.footer });
  return encodePng(canvas.pixels, order);
}
