import { encodeFlac } from './flac.ts';
import { encodeMp3, lineHz, mp3FrameMs } from './mp3.ts';
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

/** Sample rate of WAV and FLAC, in Hz. */
const sampleRate = 24_000;
const charactersPerSecond = 15;
const amplitude = 8_000;
/** Duration of a note in frames; 10 frames are 240 ms. */
const framesPerNote = 10;

/** Renders tones that last about as long as reading the text aloud. Each voice has its own pitch. */
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

/** Returns the spectral line of each MP3 frame (24 ms). */
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

/** Encodes 16-bit mono PCM as a WAV file. */
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
