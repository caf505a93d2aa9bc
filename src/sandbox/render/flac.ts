import { createHash } from 'node:crypto';
import { interleave, type SampleRate, type Sound } from './sound.ts';

const blockSamples = 4096;

/** The codes of the format for the rates. */
const rateCodes: Readonly<Record<SampleRate, number>> = { 22050: 6, 44100: 9 };

/**
 * 16-bit FLAC (RFC 9639), mono or stereo, with the fixed predictors and one Rice parameter per block and channel; each
 * block of stereo is stored as left and right or as middle and side, whichever is smaller.
 */
export function encodeFlac(sound: Sound): Buffer {
  const samples = sound.channels[0]?.length ?? 0;
  const frames: Uint8Array[] = [];
  for (let from = 0; from < samples; from += blockSamples) {
    const channels = sound.channels.map((channel) => Int32Array.from(channel.subarray(from, from + blockSamples)));
    frames.push(encodeFrame(frames.length, channels, sound.sampleRate));
  }
  return Buffer.concat([streamInfo(frames, sound), ...frames]);
}

function streamInfo(frames: readonly Uint8Array[], sound: Sound): Buffer {
  const info = Buffer.alloc(42);
  info.write('fLaC', 0, 'latin1');
  info[4] = 0x80; // the last block of metadata, and its type: stream info
  info[7] = 34;
  info.writeUInt16BE(blockSamples, 8);
  info.writeUInt16BE(blockSamples, 10);
  const sizes = frames.map((frame) => frame.length);
  info.writeUIntBE(Math.min(...sizes), 12, 3);
  info.writeUIntBE(Math.max(...sizes), 15, 3);
  const [channels, bits] = [BigInt(sound.channels.length), 16n];
  const samples = BigInt(sound.channels[0]?.length ?? 0);
  info.writeBigUInt64BE(
    (BigInt(sound.sampleRate) << 44n) | ((channels - 1n) << 41n) | ((bits - 1n) << 36n) | samples,
    18,
  );
  createHash('md5').update(interleave(sound)).digest().copy(info, 26);
  return info;
}

function encodeFrame(number: number, channels: readonly Int32Array[], sampleRate: SampleRate): Uint8Array {
  const { parts, code } = chooseParts(channels);
  const samples = channels[0]?.length ?? 0;

  const writer = new BitWriter();
  writer.put(0xfff8, 16); // sync; blocks of fixed size
  writer.put(samples === blockSamples ? 12 : 7, 4);
  writer.put(rateCodes[sampleRate], 4);
  writer.put(code, 4);
  writer.put(4, 3); // 16 bits
  writer.put(0, 1);
  putFrameNumber(writer, number);
  if (samples !== blockSamples) writer.put(samples - 1, 16);
  writer.put(checksum(writer.align(), crc8), 8);
  for (const part of parts) putSubframe(writer, part);
  writer.put(checksum(writer.align(), crc16), 16);
  return writer.align();
}

function chooseParts(channels: readonly Int32Array[]): { parts: Prediction[]; code: number } {
  const apart = channels.map((channel) => predict(channel, 16));
  const [left, right] = channels;
  if (left === undefined || right === undefined) return { parts: apart, code: 0 };
  const middle = left.map((value, index) => (value + (right[index] ?? 0)) >> 1);
  const side = left.map((value, index) => value - (right[index] ?? 0));
  const together = [predict(middle, 16), predict(side, 17)];
  const sizeOf = (parts: readonly Prediction[]) => parts.reduce((sum, part) => sum + part.bits, 0);
  return sizeOf(together) < sizeOf(apart) ? { parts: together, code: 10 } : { parts: apart, code: 1 };
}

/** Coded as UTF-8 codes characters. */
function putFrameNumber(writer: BitWriter, number: number): void {
  for (const byte of Buffer.from(String.fromCodePoint(number))) writer.put(byte, 8);
}

interface Prediction {
  readonly samples: Int32Array;
  readonly sampleBits: number;
  readonly order: number;
  readonly residual: Int32Array;
  readonly riceBits: number;
  /** Size of the coded block. */
  readonly bits: number;
}

/** The best of the fixed predictors: each order is the difference of the one before. */
function predict(samples: Int32Array, sampleBits: number): Prediction {
  const predictionOf = (order: number, residual: Int32Array): Prediction => {
    const { riceBits, bits } = measureRice(residual);
    return { samples, sampleBits, order, residual, riceBits, bits: bits + order * sampleBits };
  };
  let best = predictionOf(0, samples);
  let residual = samples;
  for (let order = 1; order <= 4 && order < samples.length; order += 1) {
    residual = differences(residual);
    const next = predictionOf(order, residual);
    if (next.bits < best.bits) best = next;
  }
  return best;
}

function differences(values: Int32Array): Int32Array {
  const result = new Int32Array(values.length - 1);
  for (let index = 1; index < values.length; index += 1)
    result[index - 1] = (values[index] ?? 0) - (values[index - 1] ?? 0);
  return result;
}

function fold(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function measureRice(residual: Int32Array): { riceBits: number; bits: number } {
  let sum = 0;
  for (const value of residual) sum += fold(value);
  const mean = sum / residual.length;
  let riceBits = 0;
  while (riceBits < 14 && 2 ** riceBits < mean * 0.69) riceBits += 1;
  let bits = 0;
  for (const value of residual) bits += (fold(value) >>> riceBits) + 1 + riceBits;
  return { riceBits, bits };
}

function putSubframe(writer: BitWriter, part: Prediction): void {
  const { samples, sampleBits, order, residual, riceBits } = part;
  writer.put(0, 1);
  writer.put(8 | order, 6);
  writer.put(0, 1);
  for (const sample of samples.subarray(0, order)) writer.put(sample, sampleBits);
  writer.put(0, 2); // Rice codes with 4-bit parameters
  writer.put(0, 4); // one partition
  writer.put(riceBits, 4);
  for (const value of residual) {
    const folded = fold(value);
    writer.putUnary(folded >>> riceBits);
    if (riceBits > 0) writer.put(folded, riceBits);
  }
}

interface Crc {
  readonly bits: 8 | 16;
  readonly table: readonly number[];
}

const crc8 = makeCrc(8, 0x07);
const crc16 = makeCrc(16, 0x8005);

function makeCrc(bits: 8 | 16, polynomial: number): Crc {
  const mask = 2 ** bits - 1;
  const table = Array.from({ length: 256 }, (_, byte) => {
    let value = byte << (bits - 8);
    for (let step = 0; step < 8; step += 1) {
      value = value & (1 << (bits - 1)) ? (value << 1) ^ polynomial : value << 1;
    }
    return value & mask;
  });
  return { bits, table };
}

function checksum(bytes: Uint8Array, crc: Crc): number {
  const mask = 2 ** crc.bits - 1;
  let value = 0;
  for (const byte of bytes)
    value = ((value << 8) ^ (crc.table[((value >>> (crc.bits - 8)) ^ byte) & 0xff] ?? 0)) & mask;
  return value;
}

/** Bits in, bytes out, most significant first. */
class BitWriter {
  private bytes = new Uint8Array(1 << 14);
  private length = 0;
  private pending = 0;
  private pendingBits = 0;

  /** The lowest `count` bits of `value`; up to 24 at a time. */
  put(value: number, count: number): void {
    this.pending = (this.pending << count) | (value & ((1 << count) - 1));
    this.pendingBits += count;
    while (this.pendingBits >= 8) {
      this.pendingBits -= 8;
      this.putByte((this.pending >>> this.pendingBits) & 0xff);
    }
    this.pending &= (1 << this.pendingBits) - 1;
  }

  /** Writes `zeros` zeros and a one. */
  putUnary(zeros: number): void {
    let left = zeros;
    for (; left >= 16; left -= 16) this.put(0, 16);
    this.put(1, left + 1);
  }

  /** Fills up the last byte with zeros, and gives everything written so far. */
  align(): Uint8Array {
    if (this.pendingBits > 0) this.put(0, 8 - this.pendingBits);
    return this.bytes.subarray(0, this.length);
  }

  private putByte(byte: number): void {
    if (this.length === this.bytes.length) {
      const larger = new Uint8Array(this.length * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.length] = byte;
    this.length += 1;
  }
}
