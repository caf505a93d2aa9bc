import { planFilm, type VideoOrder } from './film.ts';
import { encodeWebp } from './webp.ts';

/** A WebP of the frame that `renderVideo` starts with. */
export async function renderVideoStill(order: VideoOrder): Promise<Uint8Array> {
  const film = await planFilm(order);
  return encodeWebp(film.drawFrame(0), { quality: 82, effort: 2 });
}
