import { encodeSound, type SoundFormat } from './encode-sound.ts';
import { recordScore } from './mix.ts';
import { composeScore } from './score.ts';

export interface SongOrder {
  readonly seed: string;
  /** The style prompt. */
  readonly style: string;
  /** Empty for an instrumental. */
  readonly lyrics: string;
  readonly format: SoundFormat;
}

/** A song of 12 to 20 seconds, stereo at 44.1 kHz, drawn from the seed. */
export async function renderSong(order: SongOrder): Promise<Uint8Array> {
  const score = composeScore(order.seed, order.style, order.lyrics);
  return encodeSound(recordScore(score, order.seed), order.format, 160);
}
