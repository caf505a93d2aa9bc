import { describe, expect, test } from 'vitest';
import { independent } from '../../../bench/steps.ts';
import { logNormal, seeded } from '../../../rig/random.ts';
import { type SimulationOptions, simulate } from '../../../rig/simulate.ts';

function simulateMany(
  count: number,
  draw: { kind: 'video' | 'voiceover'; medianMs: number; sigma: number },
  options: SimulationOptions,
) {
  const durationMs = logNormal(draw.medianMs, draw.sigma, seeded(options.seed ?? 1));
  return simulate(draw.kind, independent(count, durationMs), options);
}

describe('many jobs, few reads', () => {
  const voice = { kind: 'voiceover', medianMs: 20_000, sigma: 0.25 } as const;
  /** With a look at each job alone this takes nine times as long. */
  const busy = { concurrency: 1000, createsPerSecond: 25, perSecond: 2 };

  test.each([
    ['as they are made', {}],
    ['created in any order', { answersMs: 2000 }],
    ['in a list that says how long it is', { list: { tellsTotal: true } }],
  ])('2,000 jobs, 25 made and 2 reads a second: %s', async (_, changes) => {
    const result = await simulateMany(2000, voice, { ...busy, ...changes });
    expect(result.meanLagMs).toBeLessThan(5000);
    expect(result.perJob).toBeLessThan(0.11);
    expect(result.times).toBeLessThan(1.02);
  });

  test.each([
    ['among as many of other users', { strangers: 1 }, 6000, 1.1],
    ['on pages that are shorter than asked for', { pageMost: 20 }, 20_000, 1.35],
    ['the same where they say to be as long as asked for', { pageMost: 20, repeatsLimit: true }, 20_000, 1.4],
    ['one in twenty never shown', { hiddenEvery: 20 }, 8000, 1.15],
  ])('1,000 jobs of which the list tells: %s', async (_, list, lagMs, times) => {
    const result = await simulateMany(1000, voice, { ...busy, list, seed: 3 });
    expect(result.meanLagMs).toBeLessThan(lagMs);
    expect(result.perJob).toBeLessThan(0.2);
    expect(result.times).toBeLessThan(times);
  });

  test('among five times as many of other users, reads are still fewer than one for each job', async () => {
    const result = await simulateMany(1000, voice, { ...busy, list: { strangers: 5 }, seed: 3 });
    expect(result.perJob).toBeLessThan(0.6);
    expect(result.times).toBeLessThan(4);
  });

  test('everything at once: a burst, other people, hidden ones, answers in any order', async () => {
    const list = { strangers: 1, hiddenEvery: 20 };
    const result = await simulateMany(1000, voice, { concurrency: 1000, perSecond: 2, answersMs: 3000, list, seed: 3 });
    expect(result.perJob).toBeLessThan(0.2);
    expect(result.times).toBeLessThan(2);
  });
});
