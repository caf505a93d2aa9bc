import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/ground/json.ts';
import { Durations, KnownDurations } from '../../../../src/service/polling/durations.ts';
import { independent, layered } from '../../../bench/steps.ts';
import { logNormal, seeded } from '../../../rig/random.ts';
import { forAll } from '../../../rig/runs.ts';
import {
  answer,
  type Oddity,
  type PolledJob,
  type Simulated,
  type SimulationOptions,
  simulate,
  simulate as simulateSteps,
} from '../../../rig/simulate.ts';

describe('simulation', () => {
  type Result = Simulated;

  const simulate = (kind: string, durationsMs: readonly number[], options: SimulationOptions) =>
    simulateSteps(
      kind,
      independent(durationsMs.length, (index) => durationsMs[index] ?? 0),
      options,
    );

  function meanOf(results: readonly Result[], name: 'times' | 'perJob' | 'meanLagMs'): number {
    return results.reduce((sum, result) => sum + result[name], 0) / results.length;
  }

  const manyOf = (count: number, draw: () => number) => Array.from({ length: count }, draw);

  describe('the age of the next query', () => {
    const tenths = Array.from({ length: 100 }, (_, index) => 1000 + 10 * index);
    test.each([
      ['once the known jobs have been over for the threshold on average', tenths, -1, 100, 1442],
      ['counted among those that are longer', tenths, 1500, 20, 1645],
      ['by doubling where hardly a longer job is known', tenths, 1980, 20, 2179],
      ['never later than by a fifth of the age', tenths, 4000, 1500, 4800],
      ['for jobs that all take the same', Array.from({ length: 50 }, () => 500), -1, 40, 540],
    ])('%s', (_, samples, last, thresholdMs, age) => {
      expect(new KnownDurations(10_000, samples).nextAge(last, thresholdMs)).toBeCloseTo(age, 0);
    });

    test('a few durations stand for others around them, and only the newest count', () => {
      const few = new KnownDurations(10_000, [1000]);
      expect(few.nextAge(-1, 10)).toBeLessThan(1000);
      for (let count = 0; count < 100; count += 1) few.learn(5000);
      expect([few.medianMs, few.samples.length, few.nextAge(-1, 10)]).toEqual([5000, 100, 5010]);
    });
  });

  describe('many jobs', () => {
    test('200 jobs around 3 s, 50 at once: cold, then with what was learned', async () => {
      // One draw says little: how long a run takes hangs on a few long jobs.
      const draws = Array.from({ length: 24 }, (_, index) => index + 1);
      const cold: Result[] = [];
      const learned: Result[] = [];
      for (const seed of draws) {
        const draw = logNormal(3000, 0.5, seeded(seed));
        const jobs = manyOf(200, draw);
        const first = await simulate('image', jobs, { concurrency: 50, seed });
        cold.push(first);
        const durations = new Durations(first.durations.keep());
        // Others of the same kind: what is known is not which of them takes long.
        learned.push(await simulate('image', manyOf(200, draw), { concurrency: 50, seed: seed + 100, durations }));
      }
      expect(meanOf(cold, 'times')).toBeLessThan(1.09);
      expect(meanOf(cold, 'perJob')).toBeLessThan(4);
      expect(meanOf(learned, 'times')).toBeLessThan(1.08);
      expect(meanOf(learned, 'perJob')).toBeLessThan(3.7);
      expect(Math.min(...learned.map(({ closestMs }) => closestMs))).toBeGreaterThanOrEqual(100);
      expect(Math.max(...cold.map(({ times }) => times))).toBeLessThan(1.15);
    });

    test('what is known makes no more looks at a service that complains, nor on jobs that take longer than any before', async () => {
      const draw = logNormal(3000, 0.5, seeded(1));
      const known = { image: manyOf(100, draw) };
      const limited: Result[] = [];
      const slower: Result[] = [];
      for (const seed of [1, 2, 3, 4, 5, 6]) {
        const jobs = manyOf(200, draw);
        const options = { concurrency: 50, seed };
        limited.push(await simulate('image', jobs, { ...options, durations: new Durations(known), perSecond: 40 }));
        const long = jobs.map((ms) => 5 * ms);
        slower.push(await simulate('image', long, { ...options, durations: new Durations(known) }));
      }
      expect(meanOf(limited, 'perJob')).toBeLessThan(5);
      expect(meanOf(slower, 'perJob')).toBeLessThan(10);
    });

    test('10 layers of 50 that need 3 each, jobs of half a second', async () => {
      const steps = layered(10, 50, 500);
      const first = await simulateSteps('image', steps, { concurrency: 50 });
      const durations = new Durations(first.durations.keep());
      const second = await simulateSteps('image', steps, { concurrency: 50, durations });
      expect(first.times).toBeLessThan(1.08);
      expect(second.times).toBeLessThan(1.07);
      expect(first.perJob).toBeLessThan(1.1);
    });

    test.each([
      ['as long as is assumed', 15_000, 0.5, 1.06, 7.5],
      ['much shorter than is assumed', 3000, 0.5, 1.08, 4.5],
      ['much longer than is assumed', 60_000, 0.5, 1.04, 14],
      ['all the same', 500, 0, 1.25, 2],
    ])('10 jobs at once, %s', async (_, medianMs, sigma, times, perJob) => {
      const results: Result[] = [];
      for (let seed = 1; seed <= 12; seed += 1) {
        const jobs = manyOf(10, logNormal(medianMs, sigma, seeded(seed)));
        results.push(await simulate('image', jobs, { concurrency: 32, seed }));
      }
      expect(meanOf(results, 'times')).toBeLessThan(times);
      expect(meanOf(results, 'perJob')).toBeLessThan(perJob);
    });

    test('a few videos: the last one is not forgotten when its list is no longer read', async () => {
      const results: Result[] = [];
      for (let seed = 1; seed <= 12; seed += 1) {
        const result = await simulate('video', manyOf(5, logNormal(120_000, 0.4, seeded(seed))), {
          concurrency: 5,
          seed,
        });
        expect(result.times).toBeLessThan(1.1);
        results.push(result);
      }
      expect(meanOf(results, 'times')).toBeLessThan(1.04);
      expect(meanOf(results, 'perJob')).toBeLessThan(14);
    });

    test.each([
      [11, 0],
      [3, 0],
      [1, 0],
      [11, 50],
      [3, 500],
    ])('1,000 videos, 100 at once, 2 reads a second: one look stands for many (%i, %i ms)', async (seed, answersMs) => {
      const draw = logNormal(30_000, 0.4, seeded(seed));
      const result = await simulate('video', manyOf(1000, draw), { concurrency: 100, perSecond: 2, answersMs });
      expect(result.meanLagMs).toBeLessThan(1600);
      expect(result.perJob).toBeLessThan(0.4);
      expect(result.times).toBeLessThan(1.08);
      expect(result.refused).toBeLessThan(5);
    });
  });
});

/** Terminal states are evidence wherever they stand; everything else that a list says may be wrong. */
const oddities: Record<string, Oddity> = {
  honest: ({ page, view }) => ({ items: page.map(view) }),
  'never knows that a job is over': ({ page }) => ({ items: page.map(running) }),
  'knows it now and then': ({ page, turn, view }) => ({ items: page.map(turn % 3 === 0 ? view : running) }),
  'shows nothing': () => ({ items: [] }),
  'shows only other people': ({ page }) => ({ items: page.map((_, index) => ({ id: `x${index}` })) }),
  'loses records in turn': ({ page, turn, view }) => ({
    items: page.filter((_, index) => index % 5 !== turn % 5).map(view),
  }),
  'turns its pages round': ({ page, view }) => ({ items: page.map(view).reverse() }),
  'says a different length each time': ({ page, turn, view }) => ({
    items: page.map(view),
    pagination: { totalCount: (turn * 7919) % 90_000, hasNextPage: turn % 2 === 0, limit: 1 + (turn % 100) },
  }),
  'has shorter pages each time': ({ page, turn, view }) => ({
    items: page.slice(0, 1 + (turn % 50)).map(view),
    pagination: { hasNextPage: true },
  }),
  'grows while it is read': ({ page, turn, view }) => ({
    items: [...strangers(turn, turn % 40), ...page.map(view)].slice(0, 100),
    pagination: { totalCount: 17 * turn, hasNextPage: true },
  }),
  'has empty pages now and then': ({ page, turn, view }) => ({
    items: turn % 3 === 0 ? page.map(view) : [],
    pagination: { hasNextPage: turn % 2 === 0 },
  }),
  'has no end': ({ page, turn, view }) => ({
    items: page.length > 0 ? page.map(view) : strangers(turn, 100),
    pagination: { hasNextPage: true, totalCount: 1_000_000 + turn },
  }),
  'is no list': ({ turn }) => answer(turn % 2 === 0 ? { success: true } : 'hello'),
  'repeats its first page': ({ pageOf, view }) => ({ items: pageOf(1).map(view), pagination: { hasNextPage: true } }),
  'goes back now and then': ({ number, turn, pageOf, view }) => ({
    items: pageOf(turn % 3 === 0 ? Math.max(1, number - (turn % 7)) : number).map(view),
    pagination: { hasNextPage: true },
  }),
  breaks: () => answer({ success: false }, 500),
  'is gone': () => answer({ success: false }, 404),
};

function running({ id }: PolledJob): Json {
  return { id, status: 'PROCESSING' };
}

function strangers(turn: number, count: number): Json[] {
  return Array.from({ length: count }, (_, index) => ({ id: `x${turn}-${index}` }));
}

const campaign = fc.record({
  oddity: fc.constantFrom(...Object.keys(oddities)),
  counts: fc.record({
    video: fc.integer({ min: 1, max: 150 }),
    voiceover: fc.integer({ min: 0, max: 60 }),
    image: fc.integer({ min: 0, max: 40 }),
  }),
  medianMs: fc.constantFrom(500, 8000, 120_000),
  createsPerSecond: fc.constantFrom(5, 100),
  perSecond: fc.constantFrom(2, 5, 20),
  readMs: fc.constantFrom(0, 400, 3000),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  jumps: fc.array(
    fc.record({
      atMs: fc.integer({ min: 0, max: 200_000 }),
      byMs: fc.constantFrom(-86_400_000, -3_600_000, -1500, 1500, 60_000),
    }),
    { maxLength: 2 },
  ),
});
type Campaign = typeof campaign extends fc.Arbitrary<infer Given> ? Given : never;

async function expectSeen({ oddity, counts, medianMs, readMs, ...given }: Campaign): Promise<void> {
  const kinds = Object.entries(counts).flatMap(([kind, count]) => Array.from({ length: count }, () => kind));
  const setOnMs = given.jumps.reduce((sum, { byMs }) => sum + Math.max(0, byMs), 0);
  // At the worst each job is queried alone, several times, one after the other. A job that a list shows as running is queried
  // when nearly all others would be over. Jobs seem to take longer by what the clock is set on, and are awaited for that long.
  const longestMs = 120_000 + 3 * medianMs + 2 * setOnMs + (10 * kinds.length * 1000) / given.perSecond;
  const steps = independent(kinds.length, logNormal(medianMs, 0.4, seeded(given.seed)));
  const lastMs = Math.max(...steps.map(({ durationMs }) => durationMs));
  const result = await simulateSteps(kinds, steps, {
    ...{ ...given, concurrency: kinds.length, list: { readMs, oddity: oddities[oddity], pauseSeconds: 2 } },
    latestMs: (1000 * kinds.length) / given.createsPerSecond + lastMs + longestMs,
  });
  expect(result.mostLagMs).toBeLessThan(longestMs);
  // A clock that is set on ends a pause early.
  if (setOnMs === 0) expect(result.tooEarly).toBe(0);
  expect(result.refused).toBeLessThan(70 + result.reads / 10);
  // Jobs are thought about a few times a second, and after each read, at the most.
  expect(result.thoughtsPerJob).toBeLessThan(100 + result.tookMs / 100 + 4 * result.reads);
}

forAll([campaign], { numRuns: 40, timeoutMs: 120_000 })(
  'I16 whatever lists say and clocks do, each end is seen, no kind starves, and a 429 is heeded',
  expectSeen,
);

test('pages that are shorter each time hide no job', async () => {
  await expectSeen({
    oddity: 'has shorter pages each time',
    counts: { video: 143, voiceover: 59, image: 10 },
    medianMs: 120_000,
    createsPerSecond: 100,
    perSecond: 5,
    readMs: 0,
    seed: 928_627,
    jumps: [{ atMs: 43_243, byMs: -3_600_000 }],
  });
});

/** Around five minutes each, at a service that bears ten reads a second. */
function videos(count: number, options: Partial<SimulationOptions>) {
  const steps = independent(count, logNormal(300_000, 0.4, seeded(1)));
  return simulate('video', steps, { concurrency: count, perSecond: 10, seed: 1, ...options });
}

test('10,000 videos in flight: seldom late, few reads, and no more thought for each than with 1,000', async () => {
  const few = await videos(1000, { createsPerSecond: 10 });
  const many = await videos(10_000, { createsPerSecond: 100 });
  expect(many.meanLagMs).toBeLessThan(12_000);
  expect(many.perJob).toBeLessThan(0.8);
  expect(many.times).toBeLessThan(1.02);
  expect(many.thoughtsPerJob).toBeLessThan(2 * few.thoughtsPerJob);
}, 240_000);

test.each([
  ['on a slow line', { list: { readMs: 300 } }],
  ['answered in any order', { answersMs: 5000 }],
  ['known from an earlier run', { durations: new Durations({ video: known() }) }],
])(
  '4,000 videos in flight: %s',
  async (_, options) => {
    const result = await videos(4000, { createsPerSecond: 50, ...options });
    expect(result.meanLagMs).toBeLessThan(15_000);
    expect(result.perJob).toBeLessThan(1.1);
    expect(result.times).toBeLessThan(1.03);
  },
  240_000,
);

function known(): number[] {
  return Array.from({ length: 100 }, logNormal(300_000, 0.4, seeded(2)));
}
