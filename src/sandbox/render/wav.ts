import type { Recording } from './mix.ts';

/** The channels' samples in turn, little-endian. */
export function interleave({ left, right }: Recording): Buffer {
  const bytes = Buffer.alloc(left.length * 4);
  for (let index = 0; index < left.length; index += 1) {
    bytes.writeInt16LE(left[index] ?? 0, index * 4);
    bytes.writeInt16LE(right[index] ?? 0, index * 4 + 2);
  }
  return bytes;
}

/** 16-bit stereo PCM. */
export function encodeWav(recording: Recording, sampleRate: number): Buffer {
  const data = interleave(recording);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(2, 22); // channels
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 4, 28);
  header.writeUInt16LE(4, 32); // bytes per moment
  header.writeUInt16LE(16, 34); // bits per sample
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
