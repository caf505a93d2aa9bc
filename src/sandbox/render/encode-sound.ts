import { encodeFlac } from './flac.ts';
import type { Sound } from './sound.ts';
import { encodeWav } from './wav.ts';

export type SoundFormat = 'mp3' | 'wav' | 'flac';

/** Samples that are encoded at a time: a multiple of the frames of MP3, so that the cuts leave no trace. */
const mp3Chunk = 1152 * 512;

/** `mp3Bitrate` in kbit/s. */
export async function encodeSound(sound: Sound, format: SoundFormat, mp3Bitrate: 64 | 160): Promise<Uint8Array> {
  switch (format) {
    case 'wav':
      return encodeWav(sound);
    case 'flac':
      return encodeFlac(sound);
    case 'mp3':
      return encodeMp3(sound, mp3Bitrate);
    default:
      return unknownFormat(format);
  }
}

async function encodeMp3({ sampleRate, channels }: Sound, bitrate: 64 | 160): Promise<Uint8Array> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
  if (sampleRate !== 22_050 && sampleRate !== 44_100) throw new Error('internal error: a sample rate without MP3');
  encoder.configure({ sampleRate, channels: channels.length === 1 ? 1 : 2, bitrate });
  const parts: Buffer[] = [];
  for (let from = 0; from < (channels[0]?.length ?? 0); from += mp3Chunk) {
    const floats = channels.map((channel) =>
      Float32Array.from(channel.subarray(from, from + mp3Chunk), (value) => value / 32_768),
    );
    // Each call returns a view of memory that the next call writes over.
    parts.push(Buffer.from(encoder.encode(floats)));
  }
  parts.push(Buffer.from(encoder.finalize()));
  return Buffer.concat(parts);
}

function unknownFormat(format: never): never {
  throw new Error(`internal error: unknown format ${JSON.stringify(format)}`);
}
