import { drawPicture, openScene, type Scene } from './picture.ts';
import { type Block, extractVp8, readWebm, type WebmFilm, writeWebm } from './webm.ts';

interface ClipOrder {
  readonly source: Uint8Array | undefined;
  readonly sourceName: string;
  readonly seed: string;
  readonly index: number;
  readonly count: number;
  /** Width of a placeholder clip in pixels. A clip cut from a film has the size of the film instead. */
  readonly width: number;
  readonly height: number;
}

const placeholderMs = 3000;

/**
 * Cuts a film that `renderVideo` made into `count` equal parts, and returns one of them. For any other source, returns
 * a placeholder of three seconds.
 */
export async function renderClip(order: ClipOrder): Promise<Uint8Array> {
  const film = order.source && readWebm(order.source);
  const piece = film && cutFilm(film, order.index, order.count);
  if (piece !== undefined) return writeWebm(piece);
  const { seed, sourceName, index, count, width, height } = order;
  return renderVideo({
    seed: `${seed} clip ${index}`,
    prompt: sourceName,
    footer: `clip ${index + 1} of ${count} · sandbox · ${width}×${height}`,
    width,
    height,
    durationMs: placeholderMs,
  });
}

/**
 * Cuts a film between frames. Returns the frames of one part. All parts together are the whole film. Returns undefined
 * if the film has fewer frames than parts.
 */
function cutFilm(film: WebmFilm, index: number, count: number): WebmFilm | undefined {
  const { frames, durationMs } = film;
  const from = Math.floor((index * frames.length) / count);
  const to = Math.floor(((index + 1) * frames.length) / count);
  if (from >= to) return undefined;
  const startMs = index === 0 ? 0 : (frames[from]?.timeMs ?? 0);
  const endMs = frames[to]?.timeMs ?? durationMs;
  return {
    ...film,
    durationMs: endMs - startMs,
    frames: frames.slice(from, to).map(({ timeMs, data }) => ({ timeMs: timeMs - startMs, data })),
  };
}

interface VideoOrder extends Scene {
  readonly durationMs: number;
}

const framesPerSecond = 2;

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
