import { drawCaption } from './caption.ts';
import { encodePicture, type PictureFormat } from './encode-picture.ts';
import { loadFont } from './load-font.ts';
import { planStage } from './stage.ts';

export interface PictureOrder {
  readonly seed: string;
  readonly prompt: string;
  readonly footer: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** PNG when it is not said. */
  readonly format?: PictureFormat;
}

/** A scene in colours drawn from the seed, with the prompt on it. */
export async function drawPicture(order: PictureOrder): Promise<Uint8Array> {
  const { seed, prompt, footer, format = 'png' } = order;
  const font = await loadFont();
  const { palette, ground: canvas, drawScene } = planStage(seed, order);
  drawScene(canvas, 0);
  drawCaption(canvas, { font, palette, prompt, footer });
  return encodePicture(canvas, format);
}
