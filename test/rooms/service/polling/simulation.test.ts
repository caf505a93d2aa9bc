import { describe, expect, test } from 'vitest';
import { Distribution } from '../../../../src/service/polling/distribution.ts';
import { Durations, KnownDurations } from '../../../../src/service/polling/durations.ts';
import { independent, layered } from '../../../bench/steps.ts';
import { logNormal, seeded } from '../../../rig/random.ts';
import { type Simulated, type SimulationOptions, simulate as simulateSteps } from '../../../rig/simulate.ts';

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

describe('the cost of a job: looks and waiting together', () => {
  /** The best ages to look at, for jobs like these: the least of `threshold × looks + waiting`, over all ways to choose. */
  function bestLooks(durationsMs: readonly number[], thresholdMs: number): number[] {
    const ages = [...new Set(durationsMs)].sort((a, b) => a - b);
    const sorted = [...durationsMs].sort((a, b) => a - b);
    // Only ages at which a job may have ended can be best. costs[i]: of all that follows a look at ages[i - 1].
    const upTo = ages.map((age) => sorted.filter((one) => one <= age).length);
    const costs = new Float64Array(ages.length + 1);
    const nexts = new Int32Array(ages.length);
    for (let from = ages.length - 1; from >= 0; from -= 1) {
      const before = from === 0 ? 0 : (upTo[from - 1] ?? 0);
      let best = Number.POSITIVE_INFINITY;
      let waited = 0;
      let ended = 0;
      for (let to = from; to < ages.length; to += 1) {
        waited += to === from ? 0 : ended * ((ages[to] ?? 0) - (ages[to - 1] ?? 0));
        ended = (upTo[to] ?? 0) - before;
        const cost = thresholdMs * (sorted.length - before) + waited + (costs[to + 1] ?? 0);
        if (cost >= best) continue;
        best = cost;
        nexts[from] = to;
      }
      costs[from] = best;
    }
    const looks: number[] = [];
    for (let from = 0; from < ages.length; from = (nexts[from] ?? ages.length) + 1)
      looks.push(ages[nexts[from] ?? 0] ?? 0);
    return looks;
  }

  /** What it costs, on average, to look at jobs that take so long at these ages. */
  function costOf(nextAge: (age: number) => number, durationsMs: readonly number[], thresholdMs: number): number {
    let cost = 0;
    for (const durationMs of durationsMs) {
      let age = -1;
      while (age < durationMs) {
        const due = nextAge(age);
        age = Number.isFinite(due) ? due : age * 1.2;
        cost += thresholdMs;
      }
      cost += age - durationMs;
    }
    return cost / durationsMs.length;
  }

  test.each([
    ['voiceover', 20_000, 0.25],
    ['image', 12_000, 0.5],
    ['music', 60_000, 0.4],
  ])('%s: within 5 %% of the optimum after 100 jobs', (_, medianMs, sigma) => {
    const ideal = bestLooks(manyOf(2000, logNormal(medianMs, sigma, seeded(99))), 1000);
    const ratios = Array.from({ length: 8 }, (_unused, seed) => {
      const draw = logNormal(medianMs, sigma, seeded(seed));
      const known = new KnownDurations(medianMs * 2);
      for (const durationMs of manyOf(100, draw)) known.learn(durationMs);
      known.refresh([]);
      const others = manyOf(2000, draw);
      const own = costOf((age) => known.distribution.dueAge(age, 1000), others, 1000);
      return own / costOf((age) => ideal.find((look) => look > age) ?? Number.POSITIVE_INFINITY, others, 1000);
    });
    expect(ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length).toBeLessThan(1.05);
  });

  test('running jobs count: the first to end do not make all seem fast', () => {
    const biased = new KnownDurations(10_000);
    for (const ms of [1000, 1100, 1200]) biased.learn(ms);
    biased.refresh([]);
    const fair = new KnownDurations(10_000);
    for (const ms of [1000, 1100, 1200]) fair.learn(ms);
    fair.refresh(Array.from({ length: 40 }, () => 1300));
    expect(fair.distribution.quantile(0.5)).toBeGreaterThan(biased.distribution.quantile(0.5));
  });

  test('a distribution knows nothing past its last job', () => {
    const one = new Distribution([{ ms: 500, weight: 1 }]);
    expect(one.dueAge(-1, 20)).toBeCloseTo(520);
    expect(one.undetected(-1, 600)).toBeCloseTo(100);
    expect(one.dueAge(500, 20)).toBe(Number.POSITIVE_INFINITY);
    expect(one.undetected(500, 600)).toBe(0);
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
    expect(meanOf(cold, 'times')).toBeLessThan(1.07);
    expect(meanOf(cold, 'perJob')).toBeLessThan(4.05);
    expect(meanOf(learned, 'times')).toBeLessThan(1.03);
    expect(meanOf(learned, 'perJob')).toBeLessThan(9);
    expect(Math.min(...learned.map(({ closestMs }) => closestMs))).toBeGreaterThanOrEqual(100);
    expect(Math.max(...cold.map(({ times }) => times))).toBeLessThan(1.12);
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
    // 10 if nothing had been known at all, 20 if all of them counted as known.
    expect(meanOf(slower, 'perJob')).toBeLessThan(15);
  });

  test('10 layers of 50 that need 3 each, jobs of half a second', async () => {
    const steps = layered(10, 50, 500);
    const first = await simulateSteps('image', steps, { concurrency: 50 });
    const durations = new Durations(first.durations.keep());
    const second = await simulateSteps('image', steps, { concurrency: 50, durations });
    expect(first.times).toBeLessThan(1.06);
    expect(second.times).toBeLessThan(1.03);
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
    expect(result.meanLagMs).toBeLessThan(1500);
    expect(result.perJob).toBeLessThan(0.36);
    expect(result.times).toBeLessThan(1.045);
    expect(result.refused).toBeLessThan(5);
  });
});
