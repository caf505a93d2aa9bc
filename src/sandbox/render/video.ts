import { recordBed } from './bed.ts';
import { framesPerSecond, planFilm, type VideoOrder } from './film.ts';
import { encodeOpus, packetMs } from './opus.ts';
import { extractVp8 } from './vp8.ts';
import { type Block, writeWebm } from './webm.ts';
import { encodeWebp } from './webp.ts';

const soundBitrate = 64_000;

/** A WebM of VP8 key frames with an Opus track: the scene of the prompt in motion over a quiet bed. */
export async function renderVideo(order: VideoOrder): Promise<Uint8Array> {
  const { width, height, durationMs } = order;
  const film = await planFilm(order);
  const frames: Block[] = [];
  for (let index = 0; index < film.frames; index += 1) {
    const webp = await encodeWebp(film.drawFrame(index), { quality: 56, effort: 2 });
    frames.push({ timeMs: Math.round((index * 1000) / framesPerSecond), data: extractVp8(webp) });
  }
  const packets = await encodeOpus(recordBed(order.seed, durationMs / 1000), soundBitrate);
  const sound = { channels: 2, packets: packets.map((data, index) => ({ timeMs: index * packetMs, data })) };
  return writeWebm({ width, height, durationMs, framesPerSecond, frames, sound });
}
