import { readWebm } from './read-webm.ts';
import { renderVideo } from './video.ts';
import { type Block, type WebmFilm, writeWebm } from './webm.ts';

export interface ClipOrder {
  /** The video that is cut, where it could be had. */
  readonly source: Uint8Array | undefined;
  readonly sourceName: string;
  readonly seed: string;
  /** Counted from 0. */
  readonly index: number;
  readonly count: number;
  /** Pixels, of a placeholder: a piece of a film has the size of the film. */
  readonly width: number;
  readonly height: number;
}

const placeholderMs = 3000;

/**
 * One of `count` equal pieces of a film that `renderVideo` made, copied frame by frame; of any other source, a
 * placeholder of three seconds that shows the source's name.
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

/** Cut between frames: the pieces together are the film. Undefined when there are fewer frames than pieces. */
function cutFilm(film: WebmFilm, index: number, count: number): WebmFilm | undefined {
  const { frames, sound, durationMs } = film;
  const from = Math.floor((index * frames.length) / count);
  const to = Math.floor(((index + 1) * frames.length) / count);
  if (from >= to) return undefined;
  const startMs = index === 0 ? 0 : (frames[from]?.timeMs ?? 0);
  const endMs = frames[to]?.timeMs ?? durationMs;
  const take = (blocks: readonly Block[]) =>
    blocks
      .filter(({ timeMs }) => timeMs >= startMs && timeMs < endMs)
      .map(({ timeMs, data }) => ({ timeMs: timeMs - startMs, data }));
  return {
    ...film,
    durationMs: endMs - startMs,
    frames: take(frames),
    sound: sound && { channels: sound.channels, packets: take(sound.packets) },
  };
}
