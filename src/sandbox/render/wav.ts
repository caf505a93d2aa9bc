import { interleave, type Sound } from './sound.ts';

/** 16-bit PCM. */
export function encodeWav(sound: Sound): Buffer {
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
