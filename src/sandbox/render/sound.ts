/** The rates that every format can take. */
export type SampleRate = 22_050 | 44_100;

/** 16-bit samples, one array for each channel, all of one length. */
export interface Sound {
  /** Samples in a second. */
  readonly sampleRate: SampleRate;
  readonly channels: readonly Int16Array[];
}

/** The channels' samples in turn, little-endian. */
export function interleave({ channels }: Sound): Buffer {
  const bytes = Buffer.alloc((channels[0]?.length ?? 0) * channels.length * 2);
  for (const [number, channel] of channels.entries()) {
    for (let index = 0, at = number * 2; index < channel.length; index += 1, at += channels.length * 2) {
      bytes.writeInt16LE(channel[index] ?? 0, at);
    }
  }
  return bytes;
}
