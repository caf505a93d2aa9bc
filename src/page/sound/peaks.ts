/** The largest absolute sample of each of `count` equal stretches, over all channels: a waveform. */
export function findPeaks(channels: readonly Float32Array[], count: number): number[] {
  const length = Math.max(0, ...channels.map((channel) => channel.length));
  return Array.from({ length: count }, (_, index) => {
    const [from, to] = [Math.floor((index * length) / count), Math.floor(((index + 1) * length) / count)];
    let peak = 0;
    for (const channel of channels) {
      for (let at = from; at < to; at += 1) peak = Math.max(peak, Math.abs(channel[at] ?? 0));
    }
    return peak;
  });
}
