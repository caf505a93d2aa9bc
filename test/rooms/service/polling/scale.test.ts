import { expect, test } from 'vitest';
import { Durations } from '../../../../src/service/polling/durations.ts';
import { independent } from '../../../bench/steps.ts';
import { logNormal, seeded } from '../../../rig/random.ts';
import { type SimulationOptions, simulate } from '../../../rig/simulate.ts';

/** Around five minutes each, at a service that bears ten reads a second. */
function videos(count: number, options: Partial<SimulationOptions>) {
  const steps = independent(count, logNormal(300_000, 0.4, seeded(1)));
  return simulate('video', steps, { concurrency: count, perSecond: 10, seed: 1, ...options });
}

test('10,000 videos in flight: seldom late, few reads, and no more thought for each than with 1,000', async () => {
  const few = await videos(1000, { createsPerSecond: 10 });
  const many = await videos(10_000, { createsPerSecond: 100 });
  expect(many.meanLagMs).toBeLessThan(20_000);
  expect(many.perJob).toBeLessThan(0.5);
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
    expect(result.perJob).toBeLessThan(0.8);
    expect(result.times).toBeLessThan(1.03);
  },
  240_000,
);

function known(): number[] {
  return Array.from({ length: 100 }, logNormal(300_000, 0.4, seeded(2)));
}
