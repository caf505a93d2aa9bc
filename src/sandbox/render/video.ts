import { framesPerSecond, planFilm, type VideoOrder } from './film.ts';
import { sampleRate } from './instruments.ts';
import { recordScore } from './mix.ts';
import { composeScore, type Note } from './score.ts';
import type { Sound } from './sound.ts';
import { type Block, extractVp8, writeWebm } from './webm.ts';
import { encodeWebp } from './webp.ts';

const soundBitrate = 64_000;

/** A WebM of VP8 key frames with an Opus track: the scene of the prompt in motion over a quiet bed. */
export async function renderVideo(order: VideoOrder): Promise<Uint8Array> {
  const { width, height, durationMs } = order;
  const film = await planFilm(order);
  const frames: Block[] = [];
  for (let index = 0; index < film.frames; index += 1) {
    const webp = await encodeWebp(film.drawFrame(index), { quality: 56, effort: 2 });
    frames.push({ timeMs: Math.round((index * 1000) / framesPerSecond), data: extractVp8(webp) });
  }
  const packets = await encodeOpus(recordBed(order.seed, durationMs / 1000), soundBitrate);
  const sound = { channels: 2, packets: packets.map((data, index) => ({ timeMs: index * packetMs, data })) };
  return writeWebm({ width, height, durationMs, framesPerSecond, frames, sound });
}

const bedSeconds = { least: 1, most: 20 } as const;
/** Against a song. */
const level = 0.4;

/** Quiet chords to lie under a film: a song without its drums and its melody, cut to length. Stereo. */
function recordBed(seed: string, seconds: number): Sound {
  const score = composeScore(`bed ${seed}`, 'calm ambient', '');
  const period = Math.min(bedSeconds.most, Math.max(bedSeconds.least, score.seconds));
  const notes: Note[] = [];
  for (let shift = 0; shift < seconds; shift += period) {
    for (const note of score.notes) {
      const start = note.start + shift;
      if (start < seconds && note.voice !== 'sung') notes.push({ ...note, start });
    }
  }
  const { channels } = recordScore({ seconds, notes, hits: [] }, seed);
  return { sampleRate, channels: channels.map((channel) => channel.map((value) => Math.round(value * level))) };
}

const packetMs = 20;
const opusRate = 48_000;
const packetSamples = (opusRate * packetMs) / 1000;
const setComplexity = 4010; // OPUS_SET_COMPLEXITY_REQUEST

/** Opus packets of 20 ms each; the last is filled up with silence. */
async function encodeOpus(sound: Sound, bitrate: number): Promise<Uint8Array[]> {
  const { default: Opus } = await import('opusscript');
  const channels = sound.channels.length;
  const encoder = new Opus(opusRate, channels, Opus.Application.AUDIO);
  try {
    encoder.setBitrate(bitrate);
    // A quiet bed gains nothing from a longer search, which would take as long as the picture.
    encoder.encoderCTL(setComplexity, 2);
    const resampled = sound.channels.map((channel) => resample(channel, sound.sampleRate));
    const packets: Uint8Array[] = [];
    for (let from = 0; from < (resampled[0]?.length ?? 0); from += packetSamples) {
      const samples = Buffer.alloc(packetSamples * channels * 2);
      for (const [number, channel] of resampled.entries()) {
        for (const [index, value] of channel.subarray(from, from + packetSamples).entries()) {
          samples.writeInt16LE(value, (index * channels + number) * 2);
        }
      }
      packets.push(encoder.encode(samples, packetSamples));
    }
    return packets;
  } finally {
    encoder.delete();
  }
}

/** To 48 kHz, along straight lines between the samples. */
function resample(samples: Int16Array, rate: number): Int16Array {
  const result = new Int16Array(Math.floor((samples.length * opusRate) / rate));
  for (let index = 0; index < result.length; index += 1) {
    const place = (index * rate) / opusRate;
    const before = Math.floor(place);
    const start = samples[before] ?? 0;
    result[index] = Math.round(start + ((samples[before + 1] ?? start) - start) * (place - before));
  }
  return result;
}
