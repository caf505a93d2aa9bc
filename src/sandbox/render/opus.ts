import type { Sound } from './sound.ts';

export const packetMs = 20;
const sampleRate = 48_000;
const packetSamples = (sampleRate * packetMs) / 1000;
const setComplexity = 4010; // OPUS_SET_COMPLEXITY_REQUEST

/** Opus packets of 20 ms each; the last is filled up with silence. */
export async function encodeOpus(sound: Sound, bitrate: number): Promise<Uint8Array[]> {
  const { default: Opus } = await import('opusscript');
  const channels = sound.channels.length;
  const encoder = new Opus(sampleRate, channels, Opus.Application.AUDIO);
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
  const result = new Int16Array(Math.floor((samples.length * sampleRate) / rate));
  for (let index = 0; index < result.length; index += 1) {
    const place = (index * rate) / sampleRate;
    const before = Math.floor(place);
    const start = samples[before] ?? 0;
    result[index] = Math.round(start + ((samples[before + 1] ?? start) - start) * (place - before));
  }
  return result;
}
