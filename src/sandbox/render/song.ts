import { encodeFlac } from './flac.ts';
import { sampleRate } from './instruments.ts';
import { type Recording, recordScore } from './mix.ts';
import { composeScore } from './score.ts';
import { encodeWav } from './wav.ts';

export interface SongOrder {
  readonly seed: string;
  /** The style prompt. */
  readonly style: string;
  /** Empty for an instrumental. */
  readonly lyrics: string;
  readonly format: 'mp3' | 'wav' | 'flac';
}

/** A song of 12 to 20 seconds, stereo at 44.1 kHz, drawn from the seed. */
export async function renderSong(order: SongOrder): Promise<Uint8Array> {
  const score = composeScore(order.seed, order.style, order.lyrics);
  const recording = recordScore(score, order.seed);
  switch (order.format) {
    case 'wav':
      return encodeWav(recording, sampleRate);
    case 'flac':
      return encodeFlac(recording, sampleRate);
    case 'mp3':
      return encodeMp3(recording);
    default:
      return unknownFormat(order.format);
  }
}

async function encodeMp3({ left, right }: Recording): Promise<Uint8Array> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate, channels: 2, bitrate: 160 });
  const floats = [left, right].map((channel) => Float32Array.from(channel, (value) => value / 32_768));
  // Both calls return a view of memory that the next call writes over.
  return Buffer.concat([Buffer.from(encoder.encode(floats)), Buffer.from(encoder.finalize())]);
}

function unknownFormat(format: never): never {
  throw new Error(`internal error: unknown format ${JSON.stringify(format)}`);
}
