import { drawPicture, openScene, type Scene } from './picture.ts';
import { type Block, extractVp8, writeWebm } from './webm.ts';

interface VideoOrder extends Scene {
  readonly durationMs: number;
}

const framesPerSecond = 2;

/** Renders a WebM of VP8 key frames without sound: the picture of the scene, with a progress bar. */
export async function renderVideo(order: VideoOrder): Promise<Uint8Array> {
  const { width, height, durationMs } = order;
  const { default: sharp } = await import('sharp');
  const pixels = await (await openScene(order)).raw().toBuffer();
  const count = Math.max(1, Math.round((durationMs * framesPerSecond) / 1000));
  const frames: Block[] = [];
  for (let index = 0; index < count; index += 1) {
    drawBar(pixels, order, (index + 1) / count);
    const webp = await sharp(pixels, { raw: { width, height, channels: 3 } })
      .webp({ quality: 56, effort: 0 })
      .toBuffer();
    frames.push({ timeMs: Math.round((index * 1000) / framesPerSecond), data: extractVp8(webp) });
  }
  return writeWebm({ width, height, durationMs, framesPerSecond, frames });
}

export function renderVideoStill(order: VideoOrder): Promise<Uint8Array> {
  return drawPicture({ ...order, format: 'webp' });
}

function drawBar(pixels: Buffer, { width, height }: Scene, share: number): void {
  const thickness = Math.max(2, Math.round(height * 0.02));
  for (let row = 0; row < thickness; row += 1) {
    pixels.fill(0xff, row * width * 3, row * width * 3 + Math.round(width * share) * 3);
  }
}
