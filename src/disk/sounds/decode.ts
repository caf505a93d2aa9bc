import type { FileHandle } from 'node:fs/promises';
import type { MPEGDecodedAudio, MPEGDecoder } from 'mpg123-decoder';
import { createLoudnessMeter, findPeaks } from '../../ground/loudness.ts';
import { writeWave } from '../../ground/wave.ts';
import type { MediaFacts } from '../../plan/outputs/expectation.ts';
import { isMp3Frame } from '../outputs/sniff.ts';

const slices = 4096;
const mostChannels = 8;

interface Form {
  isFloat: boolean;
  channels: number;
  rate: number;
  bytes: number;
}

interface Samples {
  form: Form;
  from: number;
  bytes: number;
}

async function decodeWav(handle: FileHandle, listener: Listener): Promise<void> {
  const samples = await findSamples(handle);
  if (samples !== undefined) await readSamples(handle, samples, listener);
}

/** Computes the duration in seconds of a WAV file from its size. Returns `undefined` for an unsupported format. */
async function wavSeconds(handle: FileHandle): Promise<number | undefined> {
  const { form, bytes } = (await findSamples(handle)) ?? {};
  return form && bytes ? Math.floor(bytes / (form.channels * form.bytes)) / form.rate : undefined;
}

async function findSamples(handle: FileHandle): Promise<Samples | undefined> {
  const { size: fileBytes } = await handle.stat();
  let form: Form | undefined;
  // The first chunk begins after `RIFF`, the size, and `WAVE`.
  for (let at = 12; ; ) {
    const head = await readAt(handle, at, 8);
    if (head.byteLength < 8) return undefined;
    const [name, size] = [head.getUint32(0), head.getUint32(4, true)];
    if (name === chunks.fmt) form = readForm(await readAt(handle, at + 8, Math.min(size, 40)));
    if (name === chunks.data) {
      const left = fileBytes - at - 8;
      return form && { form, from: at + 8, bytes: size === 0 ? left : Math.min(size, left) };
    }
    at += 8 + size + (size % 2);
  }
}

const chunks = { fmt: 0x666d7420, data: 0x64617461 } as const;

function readForm(view: DataView): Form | undefined {
  if (view.byteLength < 16) return undefined;
  const plain = view.getUint16(0, true);
  // In an extended header, the format code is at the start of the extension.
  const format = plain === 0xfffe && view.byteLength >= 26 ? view.getUint16(24, true) : plain;
  const [channels, rate, bits] = [view.getUint16(2, true), view.getUint32(4, true), view.getUint16(14, true)];
  const isKnown = format === 3 ? bits === 32 : format === 1 && [8, 16, 24, 32].includes(bits);
  const isSound = channels >= 1 && channels <= mostChannels && rate >= 1000 && rate <= 768_000;
  return isKnown && isSound ? { isFloat: format === 3, channels, rate, bytes: bits / 8 } : undefined;
}

async function readSamples(handle: FileHandle, { form, from, bytes }: Samples, listener: Listener): Promise<void> {
  const frame = form.channels * form.bytes;
  for (let at = 0; at < bytes; ) {
    const view = await readAt(handle, from + at, Math.min(bytes - at, frame * slices));
    const frames = Math.floor(view.byteLength / frame);
    if (frames === 0) return;
    at += frames * frame;
    const sounds = Array.from({ length: form.channels }, (_, channel) =>
      Float32Array.from({ length: frames }, (_sample, index) =>
        readSample(view, index * frame + channel * form.bytes, form),
      ),
    );
    listener.add(sounds, form.rate);
  }
}

function readSample(view: DataView, at: number, { isFloat, bytes }: Form): number {
  if (isFloat) return view.getFloat32(at, true);
  switch (bytes) {
    case 1:
      return (view.getUint8(at) - 128) / 128;
    case 2:
      return view.getInt16(at, true) / 2 ** 15;
    case 3:
      return ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 2 ** 23;
    default:
      return view.getInt32(at, true) / 2 ** 31;
  }
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<DataView> {
  const buffer = new Uint8Array(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  return new DataView(buffer.buffer, 0, bytesRead);
}

const sliceBytes = 64 * 1024;

async function decodeMp3(handle: FileHandle, listener: Listener): Promise<void> {
  // Imports mpg123-decoder on demand: the package is large, and only a manifest that checks sounds needs it.
  const { MPEGDecoder } = await import('mpg123-decoder');
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    // For a mono file, the decoder returns two equal channels.
    const isMono = await readIsMono(handle);
    const slice = new Uint8Array(sliceBytes);
    for (let at = 0; ; ) {
      const { bytesRead } = await handle.read(slice, 0, sliceBytes, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      const { channelData, sampleRate } = decode(decoder, slice.subarray(0, bytesRead));
      if (channelData[0]?.length) listener.add(isMono ? channelData.slice(0, 1) : channelData, sampleRate);
    }
  } finally {
    decoder.free();
  }
}

/** Decodes bytes. Suppresses console output meanwhile, because the decoder prints its errors to the console. */
function decode(decoder: MPEGDecoder, bytes: Uint8Array): MPEGDecodedAudio {
  const { error } = console;
  console.error = () => {};
  try {
    return decoder.decode(bytes);
  } finally {
    console.error = error;
  }
}

/**
 * Returns the duration of an MP3 in seconds, as the sum of all frames. Ignores the duration in the header: in a file
 * joined from parts, it counts only the first part.
 */
async function mp3Seconds(handle: FileHandle): Promise<number | undefined> {
  const { size } = await handle.stat();
  const bytes = Buffer.alloc(size);
  await handle.read(bytes, 0, size, 0);
  let seconds = 0;
  let isInSync = true;
  for (let at = 0; at + 4 <= size; ) {
    const tag = tagLength(bytes, at);
    const frame = readFrame(bytes, at);
    // Requires two frame headers after damaged bytes: a single one may be a coincidence.
    if (frame !== undefined && (isInSync || readFrame(bytes, at + frame.length) !== undefined)) {
      seconds += frame.seconds;
      at += frame.length;
      isInSync = true;
    } else {
      isInSync = tag > 0;
      at += Math.max(1, tag);
      while (!isInSync && at < size && bytes[at] !== 0xff && bytes[at] !== 0x49) at += 1;
    }
  }
  return seconds === 0 ? undefined : seconds;
}

const rates = [44_100, 48_000, 32_000] as const;
const bitRates = {
  full: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  half: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

function readFrame(bytes: Buffer, at: number): { length: number; seconds: number } | undefined {
  if (at + 4 > bytes.length || !isMp3Frame(bytes, at)) return undefined;
  const [version = 0, coding = 0] = bytes.subarray(at + 1, at + 3);
  const isFull = (version & 0x18) === 0x18;
  const rate = (rates[(coding >> 2) & 3] ?? 44_100) / (isFull ? 1 : (version & 0x10) === 0 ? 4 : 2);
  const bits = (isFull ? bitRates.full : bitRates.half)[coding >> 4] ?? 0;
  if (bits === 0) return undefined;
  const samples = isFull ? 1152 : 576;
  const length = Math.floor((samples * 125 * bits) / rate) + ((coding >> 1) & 1);
  const inside = bytes.toString('latin1', at + 4, at + 44);
  return { length, seconds: /Xing|Info|VBRI/.test(inside) ? 0 : samples / rate };
}

async function readIsMono(handle: FileHandle): Promise<boolean> {
  const tag = new Uint8Array(tagHeadBytes);
  await handle.read(tag, 0, tag.length, 0);
  const bytes = new Uint8Array(sliceBytes);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, tagLength(tag, 0));
  for (let at = 0; at + 4 <= bytesRead; at += 1) {
    if (isMp3Frame(bytes, at)) return (bytes[at + 3] ?? 0) >> 6 === 3;
  }
  return false;
}

const tagHeadBytes = 10;

function tagLength(bytes: Uint8Array, at: number): number {
  const isTag = bytes[at] === 0x49 && bytes[at + 1] === 0x44 && bytes[at + 2] === 0x33;
  if (!isTag || bytes.length < at + tagHeadBytes) return 0;
  // The length of the tag has four bytes with seven bits each.
  return tagHeadBytes + bytes.subarray(at + 6, at + tagHeadBytes).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
}

interface Listener {
  add(channels: readonly Float32Array[], rate: number): void;
  facts(): MediaFacts;
}

/** Amplitude of -50 dBFS. Samples with a smaller amplitude count as silence. */
const silent = 10 ** (-50 / 20);
/** Lowest loudness (LUFS) and lowest peak (dBFS) that a measurement reports. */
const least = { lufs: -70, dB: -120 } as const;
/** Duration in seconds below which the loudness of a sound is undefined. */
const blockSeconds = 0.4;

class Ear implements Listener {
  #meter: ReturnType<typeof createLoudnessMeter> | undefined;
  #rate = 0;
  #samples = 0;
  #peak = 0;
  #silence = 0;
  #longestSilence = 0;

  add(channels: readonly Float32Array[], rate: number): void {
    this.#rate = rate;
    this.#meter ??= createLoudnessMeter(rate);
    this.#meter.add(channels);
    const length = channels[0]?.length ?? 0;
    this.#samples += length;
    for (let at = 0; at < length; at += 1) {
      let level = 0;
      for (const channel of channels) level = Math.max(level, Math.abs(channel[at] ?? 0));
      this.#peak = Math.max(this.#peak, level);
      this.#silence = level < silent ? this.#silence + 1 : 0;
      this.#longestSilence = Math.max(this.#longestSilence, this.#silence);
    }
  }

  facts(): MediaFacts {
    if (this.#meter === undefined) return {};
    const isMeasured = this.#samples / this.#rate >= blockSeconds;
    return {
      ...(isMeasured && { lufs: rounded(Math.max(least.lufs, this.#meter.loudness())) }),
      peakDb: rounded(Math.max(least.dB, 20 * Math.log10(this.#peak))),
      silentSeconds: rounded(this.#longestSilence / this.#rate),
    };
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

const barCount = 120;
const pieceSamples = 128;

class WavePen implements Listener {
  readonly #pieces: number[] = [];
  #peak = 0;
  #samples = 0;

  add(channels: readonly Float32Array[]): void {
    const length = channels[0]?.length ?? 0;
    for (let at = 0; at < length; at += 1) {
      for (const channel of channels) this.#peak = Math.max(this.#peak, Math.abs(channel[at] ?? 0));
      this.#samples += 1;
      if (this.#samples % pieceSamples !== 0) continue;
      this.#pieces.push(this.#peak);
      this.#peak = 0;
    }
  }

  facts(): MediaFacts {
    if (this.#pieces.length < barCount) return {};
    return { wave: writeWave(findPeaks([Float32Array.from(this.#pieces)], barCount)) };
  }
}

type Measure = (handle: FileHandle) => Promise<MediaFacts | undefined>;

/** Functions that measure a sound file. `sound`: loudness, peak and silence. */
type SoundMeasures = { readonly [what in 'duration' | 'sound' | 'wave']: Measure };

function measuresOf(
  decode: (handle: FileHandle, listener: Listener) => Promise<void>,
  seconds: (handle: FileHandle) => Promise<number | undefined>,
): SoundMeasures {
  const measure = async (handle: FileHandle, listener: Listener) => {
    await decode(handle, listener);
    return listener.facts();
  };
  return {
    async duration(handle) {
      const durationSeconds = await seconds(handle);
      return durationSeconds === undefined ? undefined : { durationSeconds };
    },
    sound: (handle) => measure(handle, new Ear()),
    wave: (handle) => measure(handle, new WavePen()),
  };
}

/** By media type. */
export const sounds: { readonly [type: string]: SoundMeasures } = {
  'audio/mpeg': measuresOf(decodeMp3, mp3Seconds),
  'audio/wav': measuresOf(decodeWav, wavSeconds),
};
