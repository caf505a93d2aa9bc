const stepsPerBlock = 4;
const secondsPerStep = 0.1;
const silence = -70;
const belowMean = -10;

/**
 * Measures integrated loudness in LUFS by ITU-R BS.1770-4. `add`: samples from -1 to 1, of equal length for each channel.
 * `loudness`: -Infinity for silence, and for a sound shorter than 400 ms.
 */
export function createLoudnessMeter(sampleRate: number) {
  const samplesPerStep = Math.round(sampleRate * secondsPerStep);
  const filters: (readonly [Filter, Filter])[] = [];
  const steps: number[] = [];
  let seen = 0;

  const add = (channels: readonly Float32Array[]) => {
    channels.forEach((channel, index) => {
      filters[index] ??= [createFilter(shelf(sampleRate)), createFilter(highPass(sampleRate))];
      const [head, low] = filters[index];
      for (let at = 0; at < channel.length; at += 1) {
        const weighted = low(head(channel[at] ?? 0));
        const step = Math.floor((seen + at) / samplesPerStep);
        steps[step] = (steps[step] ?? 0) + weighted * weighted;
      }
    });
    seen += channels[0]?.length ?? 0;
  };

  const loudness = () => {
    const whole = steps.slice(0, Math.floor(seen / samplesPerStep));
    return gatedLoudness(blocksOf(whole.map((sum) => sum / samplesPerStep)));
  };
  return { add, loudness };
}

function blocksOf(steps: readonly number[]): number[] {
  return steps.slice(stepsPerBlock - 1).map((_, index) => meanOf(steps.slice(index, index + stepsPerBlock)));
}

function gatedLoudness(blocks: readonly number[]): number {
  const audible = blocks.filter((power) => inLufs(power) > silence);
  const threshold = inLufs(meanOf(audible)) + belowMean;
  return inLufs(meanOf(audible.filter((power) => inLufs(power) > threshold)));
}

function inLufs(power: number): number {
  return -0.691 + 10 * Math.log10(power);
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns a factor for each sound: multiplied by it, all sounds are as loud as the quietest. Silence has factor 1. */
export function matchLoudness(loudnesses: readonly number[]): number[] {
  const quietest = Math.min(...loudnesses.filter(Number.isFinite));
  return loudnesses.map((loudness) => (Number.isFinite(loudness) ? 10 ** ((quietest - loudness) / 20) : 1));
}

type Filter = (sample: number) => number;
type Coefficients = [b0: number, b1: number, b2: number, a1: number, a2: number];

function createFilter([b0, b1, b2, a1, a2]: Coefficients): Filter {
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return (x) => {
    const y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    return y;
  };
}

function shelf(sampleRate: number): Coefficients {
  const [frequency, gain, quality] = [1681.974450955533, 3.999843853973347, 0.7071752369554196];
  const k = Math.tan((Math.PI * frequency) / sampleRate);
  const high = 10 ** (gain / 20);
  const band = high ** 0.4996667741545416;
  const a0 = 1 + k / quality + k * k;
  return [
    (high + (band * k) / quality + k * k) / a0,
    (2 * (k * k - high)) / a0,
    (high - (band * k) / quality + k * k) / a0,
    (2 * (k * k - 1)) / a0,
    (1 - k / quality + k * k) / a0,
  ];
}

function highPass(sampleRate: number): Coefficients {
  const [frequency, quality] = [38.13547087602444, 0.5003270373238773];
  const k = Math.tan((Math.PI * frequency) / sampleRate);
  const a0 = 1 + k / quality + k * k;
  return [1, -2, 1, (2 * (k * k - 1)) / a0, (1 - k / quality + k * k) / a0];
}

/** Splits the samples into `count` equal parts. Returns the largest absolute sample of each part. */
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
