import { encodeFlac } from './flac.ts';
import { interleave, type Sound } from './sound.ts';

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
      return format satisfies never;
  }
}

async function encodeMp3({ sampleRate, channels }: Sound, bitrate: 64 | 160): Promise<Uint8Array> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
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

/** 16-bit PCM. */
function encodeWav(sound: Sound): Buffer {
  const data = interleave(sound);
  const momentBytes = sound.channels.length * 2;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(sound.channels.length, 22);
  header.writeUInt32LE(sound.sampleRate, 24);
  header.writeUInt32LE(sound.sampleRate * momentBytes, 28);
  header.writeUInt16LE(momentBytes, 32);
  header.writeUInt16LE(16, 34); // bits per sample
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
