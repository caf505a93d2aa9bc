import { createHash } from 'node:crypto';

const blockSamples = 4096;

/** Encodes 16-bit mono FLAC (RFC 9639) with verbatim subframes. Without prediction, the file is as large as a WAV. */
export function encodeFlac(samples: Int16Array, sampleRate: 24_000): Buffer {
  const frames: Buffer[] = [];
  const bytes = Buffer.from(Int16Array.from(samples).buffer);
  const digest = createHash('md5').update(bytes).digest();
  bytes.swap16();
  for (let from = 0; from < bytes.length; from += blockSamples * 2) {
    frames.push(encodeFrame(frames.length, bytes.subarray(from, from + blockSamples * 2)));
  }
  const info = Buffer.alloc(42);
  info.write('fLaC', 0, 'latin1');
  info[4] = 0x80; // the last block of metadata, and its type: stream info
  info[7] = 34;
  info.writeUInt16BE(blockSamples, 8);
  info.writeUInt16BE(blockSamples, 10);
  // Minimum and maximum frame size are 0, which means unknown. Then sample rate, one channel, 16 bits, number of
  // samples.
  info.writeBigUInt64BE((BigInt(sampleRate) << 44n) | (15n << 36n) | BigInt(samples.length), 18);
  digest.copy(info, 26);
  return Buffer.concat([info, ...frames]);
}

/** Encodes a frame. `samples`: big-endian. */
function encodeFrame(number: number, samples: Buffer): Buffer {
  const count = samples.length / 2;
  const isFull = count === blockSamples;
  const header = [
    Buffer.from([0xff, 0xf8, (isFull ? 0xc0 : 0x70) | 7, 0x08]), // 24 kHz, mono, 16 bits
    Buffer.from(String.fromCodePoint(number)), // coded as UTF-8 codes characters
    ...(isFull ? [] : [Buffer.from([(count - 1) >> 8, (count - 1) & 0xff])]),
  ];
  const checked = Buffer.concat(header);
  const verbatim = 0x02;
  const frame = Buffer.concat([checked, Buffer.from([checksum(checked, 8, 0x07), verbatim]), samples]);
  const end = Buffer.alloc(2);
  end.writeUInt16BE(checksum(frame, 16, 0x8005));
  return Buffer.concat([frame, end]);
}

function checksum(bytes: Uint8Array, bits: 8 | 16, polynomial: number): number {
  const mask = 2 ** bits - 1;
  let value = 0;
  for (const byte of bytes) {
    value ^= byte << (bits - 8);
    for (let step = 0; step < 8; step += 1) {
      value = (value & (1 << (bits - 1)) ? (value << 1) ^ polynomial : value << 1) & mask;
    }
  }
  return value;
}
