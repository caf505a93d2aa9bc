import { describe, expect, test } from 'vitest';
import { createLoudnessMeter, findPeaks, matchLoudness } from '../../../src/ground/loudness.ts';

/** `level` in dB of full scale, at its peak. */
function tone(frequency: number, level: number, seconds: number, rate: number): Float32Array {
  const size = 10 ** (level / 20);
  return Float32Array.from(
    { length: Math.round(seconds * rate) },
    (_, at) => size * Math.sin((2 * Math.PI * frequency * at) / rate),
  );
}

function measure(channels: Float32Array[], rate: number, slice = Number.POSITIVE_INFINITY): number {
  const meter = createLoudnessMeter(rate);
  const length = channels[0]?.length ?? 0;
  for (let at = 0; at < length; at += slice) meter.add(channels.map((channel) => channel.subarray(at, at + slice)));
  return meter.loudness();
}

function joined(first: Float32Array, second: Float32Array): Float32Array {
  const both = new Float32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

describe('loudness', () => {
  test.each([44_100, 48_000, 96_000])('of the tone that the standard names is -3.01 at %i Hz', (rate) => {
    expect(measure([tone(997, 0, 3, rate)], rate)).toBeCloseTo(-3.01, 1);
  });

  test.each([-23, -33])('of that tone at %i dB in two channels is the same number', (level) => {
    const channel = tone(1000, level, 5, 48_000);
    expect(measure([channel, channel], 48_000)).toBeCloseTo(level, 1);
  });

  test('is less for a low rumble, and more for what ears hear well', () => {
    const at = (frequency: number) => measure([tone(frequency, -20, 2, 48_000)], 48_000);
    expect(at(25)).toBeLessThan(at(997) - 9);
    expect(at(10_000)).toBeCloseTo(at(997) + 3.3, 0);
  });

  test('counts neither pauses nor what is far quieter', () => {
    const loud = tone(1000, -23, 10, 48_000);
    const alone = measure([loud], 48_000);
    // The tolerance of the standard; blocks on the border count a little.
    expect(Math.abs(measure([joined(loud, new Float32Array(480_000))], 48_000) - alone)).toBeLessThan(0.1);
    expect(Math.abs(measure([joined(tone(1000, -40, 10, 48_000), loud)], 48_000) - alone)).toBeLessThan(0.1);
  });

  test('is the same however the sound is sliced', () => {
    const sound = tone(440, -12, 2, 44_100);
    expect(measure([sound, sound], 44_100, 1001)).toBeCloseTo(measure([sound, sound], 44_100), 9);
  });

  test('of silence, and of less than a block, is none', () => {
    expect(measure([new Float32Array(48_000)], 48_000)).toBe(Number.NEGATIVE_INFINITY);
    expect(measure([tone(997, 0, 0.3, 48_000)], 48_000)).toBe(Number.NEGATIVE_INFINITY);
    expect(measure([], 48_000)).toBe(Number.NEGATIVE_INFINITY);
  });

  test('is matched by turning the louder ones down', () => {
    const gains = matchLoudness([-14, -20, Number.NEGATIVE_INFINITY]);
    expect(gains[0]).toBeCloseTo(0.501, 3);
    expect(gains.slice(1)).toEqual([1, 1]);
    expect(matchLoudness([Number.NEGATIVE_INFINITY])).toEqual([1]);
  });
});

test('peaks are the largest samples of equal stretches', () => {
  const channels = [Float32Array.of(0.1, -0.5, 0, 0, 0.2, 0), Float32Array.of(0, 0, 0.25, 0, 0, -0.75)];
  expect(findPeaks(channels, 3)).toEqual([0.5, 0.25, 0.75]);
  expect(findPeaks([], 2)).toEqual([0, 0]);
});
