import { Canvas } from './canvas.ts';
import { drawCaption } from './caption.ts';
import type { Palette } from './color.ts';
import { loadFont } from './font.ts';
import { plain } from './scene.ts';
import { rectangle } from './shapes.ts';
import { planStage } from './stage.ts';

export interface VideoOrder {
  readonly seed: string;
  readonly prompt: string;
  readonly footer: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
}

export interface Film {
  readonly frames: number;
  /** The same canvas for every frame: done with before the next one is drawn. */
  readonly drawFrame: (index: number) => Canvas;
}

export const framesPerSecond = 12;
/** Smaller than on a picture, so that more of what moves is seen. */
const promptScale = 0.72;

/** The scene of a picture in motion, with the prompt on it and a bar that says how much has passed. */
export async function planFilm(order: VideoOrder): Promise<Film> {
  const { seed, prompt, footer, width, height, durationMs } = order;
  const font = await loadFont();
  const { palette, ground, drawScene } = planStage(seed, order);
  const frames = Math.max(1, Math.round((durationMs * framesPerSecond) / 1000));
  const canvas = new Canvas(width, height);
  const drawFrame = (index: number) => {
    canvas.pixels.set(ground.pixels);
    drawScene(canvas, index / framesPerSecond);
    drawCaption(canvas, { font, palette, prompt, footer, promptScale });
    drawProgress(canvas, palette, index / Math.max(1, frames - 1));
    return canvas;
  };
  return { frames, drawFrame };
}

/** Along the lower edge. */
function drawProgress(canvas: Canvas, palette: Palette, share: number): void {
  const { width, height } = canvas;
  const thickness = Math.max(3, Math.round(Math.min(width, height) * 0.014));
  const y = height - thickness;
  canvas.fill([rectangle(0, y, { width, height: thickness })], plain(palette.dark, 0.6));
  const passed = rectangle(0, y, { width: width * share, height: thickness });
  canvas.fill([passed], plain(palette.accents[0] ?? palette.light, 1));
}
