import { createHash } from 'node:crypto';
import { between, createRandom, wholeBetween } from './random.ts';

type SoundFormat = 'mp3' | 'wav' | 'flac';

interface SpeechOrder {
  readonly seed: string;
  readonly text: string;
  readonly voice: string;
  readonly format: SoundFormat;
}

interface SongOrder {
  readonly seed: string;
  readonly format: SoundFormat;
}

/** Sample rate of WAV and FLAC files, in Hz. */
const sampleRate = 24_000;
const charactersPerSecond = 15;
const amplitude = 8_000;
/** Duration of a note in MP3 frames: 10 frames take 240 ms. */
const framesPerNote = 10;

export async function renderSpeech({ seed, text, voice, format }: SpeechOrder): Promise<Uint8Array> {
  const pitch = wholeBetween(createRandom(`voice ${voice}`), 3, 9);
  const random = createRandom(`speech ${seed} ${voice}`);
  const seconds = 0.6 + ([...text].length / charactersPerSecond) * between(random, 0.95, 1.05);
  return encode(
    composeTones(seconds, () => pitch + wholeBetween(random, 0, 2)),
    format,
  );
}

export async function renderSong({ seed, format }: SongOrder): Promise<Uint8Array> {
  const random = createRandom(`song ${seed}`);
  return encode(
    composeTones(between(random, 12, 20), () => wholeBetween(random, 6, 30)),
    format,
  );
}

/** Returns the spectral line of each MP3 frame. A frame lasts 24 ms. */
function composeTones(seconds: number, nextLine: () => number): number[] {
  const tones: number[] = [];
  const frames = Math.round((seconds * 1000) / mp3FrameMs);
  while (tones.length < frames) tones.push(...new Array<number>(framesPerNote).fill(nextLine()));
  return tones.slice(0, frames);
}

function encode(tones: readonly number[], format: SoundFormat): Uint8Array {
  if (format === 'mp3') return encodeMp3(tones);
  const samples = synthesise(tones);
  return format === 'flac' ? encodeFlac(samples, sampleRate) : encodeWav(samples);
}

function synthesise(tones: readonly number[]): Int16Array {
  const perFrame = (sampleRate * mp3FrameMs) / 1000;
  const samples = new Int16Array(tones.length * perFrame);
  let phase = 0;
  for (let index = 0; index < samples.length; index += 1) {
    phase += (2 * Math.PI * lineHz(tones[Math.floor(index / perFrame)] ?? 0)) / sampleRate;
    samples[index] = Math.round(amplitude * Math.sin(phase));
  }
  return samples;
}

function encodeWav(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(44 + samples.length * 2);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16); // length of the format
  bytes.writeUInt16LE(1, 20); // PCM
  bytes.writeUInt16LE(1, 22); // channels
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(sampleRate * 2, 28);
  bytes.writeUInt16LE(2, 32); // bytes of a sample
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(samples.length * 2, 40);
  for (const [index, sample] of samples.entries()) bytes.writeInt16LE(sample, 44 + index * 2);
  return bytes;
}

const mp3FrameMs = 24;
/** Frame size in bytes, which is an integer at 48 kHz and 32 kbit/s. */
const frameBytes = 96;
const globalGain = 195;

function lineHz(line: number): number {
  return ((line + 0.5) * 24_000) / 576;
}

/**
 * Encodes MPEG-1 Layer III (ISO 11172-3), mono. In each frame, one spectral line (0 to 280) is 1 and all others are 0.
 * Frames with one line need no psychoacoustic model and only one Huffman table, whose codes all have four bits.
 */
function encodeMp3(lines: readonly number[]): Buffer {
  const known = new Map<number, Buffer>();
  const frameOf = (line: number) => {
    const frame = known.get(line) ?? encodeFrame(line);
    known.set(line, frame);
    return frame;
  };
  return Buffer.concat(lines.map(frameOf));
}

function encodeFrame(line: number): Buffer {
  const zeros = '1111'.repeat(Math.floor(line / 4));
  // The Huffman table stores the complement of the four values; the sign follows.
  const last = (0b1111 ^ (0b1000 >> (line % 4))).toString(2).padStart(4, '0');
  const data = `${zeros}${last}0`;
  const granule = [
    bits(data.length, 12),
    bits(0, 9), // pairs of big values
    bits(globalGain, 8),
    bits(0, 4 + 1 + 15 + 4 + 3 + 1 + 1), // no scale factors, long blocks, no regions
    bits(1, 1), // the Huffman table of four-bit codes
  ].join('');
  // Sync word, MPEG-1 Layer III without checksum; 32 kbit/s at 48 kHz; mono. Zeros follow: no bit reservoir, no shared
  // scale factors.
  const frame = `${bits(0xfffb14c0, 32)}${bits(0, 18)}${granule}${granule}${data}${data}`.padEnd(frameBytes * 8, '0');
  return Buffer.from(frame.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}

function bits(value: number, count: number): string {
  return value.toString(2).padStart(count, '0');
}

const blockSamples = 4096;

/**
 * Encodes 16-bit mono FLAC (RFC 9639) with verbatim subframes. Without prediction, the file is as large as a WAV file.
 */
function encodeFlac(samples: Int16Array, sampleRate: 24_000): Buffer {
  const frames: Buffer[] = [];
  const bytes = Buffer.from(Int16Array.from(samples).buffer);
  const digest = createHash('md5').update(bytes).digest();
  bytes.swap16();
  for (let from = 0; from < bytes.length; from += blockSamples * 2) {
    frames.push(encodeFlacFrame(frames.length, bytes.subarray(from, from + blockSamples * 2)));
  }
  const info = Buffer.alloc(42);
  info.write('fLaC', 0, 'latin1');
  info[4] = 0x80; // the last block of metadata, and its type: stream info
  info[7] = 34;
  info.writeUInt16BE(blockSamples, 8);
  info.writeUInt16BE(blockSamples, 10);
  // Minimum and maximum frame size are 0, which means unknown. Sample rate, one channel, 16 bits and number of samples
  // follow.
  info.writeBigUInt64BE((BigInt(sampleRate) << 44n) | (15n << 36n) | BigInt(samples.length), 18);
  digest.copy(info, 26);
  return Buffer.concat([info, ...frames]);
}

function encodeFlacFrame(number: number, samples: Buffer): Buffer {
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
