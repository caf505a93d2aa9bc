import { describe, expect, test } from 'vitest';
import { Batches } from '../../../src/ground/batches.ts';
import { likenessOf } from '../../../src/ground/likeness.ts';
import { createLoudnessMeter, findPeaks, matchLoudness } from '../../../src/ground/loudness.ts';
import { Places } from '../../../src/ground/places.ts';
import { fitsRange } from '../../../src/ground/version.ts';

test('what waits shares a write, in order and up to a size; a failure is told to its own batch alone', async () => {
  const written: string[][] = [];
  const batches = new Batches<string>({
    async write(items) {
      written.push([...items]);
      if (items.includes('bad')) throw new Error('no space left');
    },
    sizeOf: ({ length }) => length,
    mostSize: 6,
  });
  const added = ['one', 'two', 'bad', 'much too long'].map((item) => batches.add(item));
  expect(batches.waiting).toBe(4);
  const ends = await Promise.allSettled(added);
  expect(written).toEqual([['one', 'two'], ['bad'], ['much too long']]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  await batches.idle();
  expect(batches.waiting).toBe(0);
});

test('work waits for a place in order, and no longer than its signal lasts', async () => {
  const places = new Places(1);
  let end = () => {};
  const first = places.use(() => new Promise<void>((resolve) => (end = resolve)));
  const patience = new AbortController();
  const impatient = places.use(async () => 'never', patience.signal);
  const third = places.use(async () => 'third');
  expect([places.free, places.waiting]).toEqual([0, 2]);
  patience.abort();
  await expect(impatient).rejects.toThrow();
  end();
  expect([await first, await third]).toEqual([undefined, 'third']);
  expect([places.free, places.waiting]).toEqual([1, 0]);
});

test.each([
  ['HTTP 500: boom after 12 s', 'HTTP 500: boom after 3.5 s', true],
  ['HTTP 500: boom', 'HTTP 400: boom', false],
  ['"rot" is no colour', '"blau" is no colour', true],
  ['no file at img/a/b.png', 'no file at img/c.png', true],
  ['job j-12 was moderated', 'Job k_7@x was  moderated.', false],
  ['job j-12 was moderated', 'Job k_7@x was  moderated', true],
  ['see https://a.example/x?y', 'see http://b.example', true],
  ['moderated', 'timed out', false],
])('%j and %j: alike %s', (one, other, alike) => {
  expect(likenessOf(one) === likenessOf(other)).toBe(alike);
});

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

test.each([
  ['>=0.3', ['0.3.0', '0.3.1', '1.0.0', '0.4.0-rc.1'], ['0.2.9', '0.3.0-rc.1']],
  ['<2', ['1.9.9', '0.1.0'], ['2.0.0', '2.0.0-rc.1', '3.0.0']],
  ['>=0.3 <2', ['0.3.0', '1.2.3'], ['0.2.0', '2.0.0']],
  [' >=0.3  <2 ', ['1.0.0'], ['2.0.0']],
  ['^1.2', ['1.2.0', '1.99.0'], ['1.1.9', '2.0.0', '2.0.0-rc.1']],
  ['^0.3', ['0.3.0', '0.3.9'], ['0.4.0', '1.0.0', '0.2.0']],
  ['^0.0.3', ['0.0.3'], ['0.0.4', '0.1.0']],
  ['^0', ['0.0.0', '0.9.0'], ['1.0.0']],
  ['^0.0', ['0.0.7'], ['0.1.0']],
  ['>=1.10', ['1.10.0', '1.11.0'], ['1.9.0']],
])('%s takes what npm takes for it', (range, fitting, other) => {
  expect(fitting.filter((version) => fitsRange(version, range) !== true)).toEqual([]);
  expect(other.filter((version) => fitsRange(version, range) !== false)).toEqual([]);
});

test.each(['', '1.2', '=1', '>=1.2.3.4', '>= 1', '~1.2', '>=1 || <2', '>=x', '*', `>=${'9'.repeat(10)}`])(
  'no range: %j',
  (range) => {
    expect(fitsRange('1.0.0', range)).toBeUndefined();
  },
);
