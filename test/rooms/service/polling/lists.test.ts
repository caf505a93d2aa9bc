import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AdaptiveRate } from '../../../../src/ground/adaptive-rate.ts';
import type { Json } from '../../../../src/ground/json.ts';
import type { Http, HttpAnswer } from '../../../../src/service/http.ts';
import { Poller } from '../../../../src/service/polling/poller.ts';
import { watchJob } from '../../../../src/service/watch.ts';
import { independent } from '../../../bench/steps.ts';
import { logNormal, seeded } from '../../../rig/random.ts';
import { forAll, runs } from '../../../rig/runs.ts';
import { type SimulationOptions, simulate } from '../../../rig/simulate.ts';
import { VirtualClock } from '../../../rig/virtual-clock.ts';

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
});

const answer = (status: number, json: Json, headers: Record<string, string> = {}): HttpAnswer => {
  return { is: 'answer', status, headers, json };
};
const job = (facts: { [name: string]: Json }) => answer(200, { data: { id: 'j', ...facts } });
const hints = [
  '0',
  '-1',
  '1',
  '20',
  '1000000000000000',
  'NaN',
  'soon',
  '',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'Infinity',
];
const odd: HttpAnswer[] = [
  ...hints.map((hint) => answer(429, { success: false }, { 'retry-after': hint })),
  ...['RENDERING', '', 'completed', 'QUEUED', 'PROCESSING', '\u0000'].map((status) => job({ status })),
  job({ status: 'PROCESSING', createdAt: 'never' }),
  answer(404, { success: false }),
];

forAll([fc.array(fc.nat(odd.length - 1), { minLength: 1, maxLength: 12 })], {
  numRuns: runs(200),
  examples: [[[17, 10, 10, 17]]],
})('I16 no hint of a server, and no status, makes it ask in a busy loop or never again', async (picks) => {
  const clock = new VirtualClock();
  const startedAt = clock.now();
  const asked: number[] = [];
  const http: Http = {
    async call() {
      asked.push(clock.now() - startedAt);
      return odd[picks[(asked.length - 1) % picks.length] ?? 0] ?? { is: 'broken', sent: true, message: '' };
    },
    close: async () => {},
  };
  const poller = new Poller({ http, clock, deadlineMs: 1000 });
  const health = { failures: 0, countAgainAt: 0 };
  const ports = { clock, poller, health, patienceMs: 600_000, redact: (text: string) => text };
  const options = { signal: new AbortController().signal, fresh: true, onStatus: () => {}, notice: () => {} };
  await clock.run(watchJob({ kind: 'image', jobId: 'j' }, ports, options));
  const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
  // The end of its patience brings one more look, however recent the one before it was.
  for (const gap of gaps.slice(0, -1)) expect(gap).toBeGreaterThanOrEqual(100);
  for (const gap of gaps) expect(gap).toBeLessThanOrEqual(160_000);
  for (let minute = 0; minute < 10; minute += 1) {
    const within = asked.filter((at) => at >= minute * 60_000 && at < (minute + 1) * 60_000).length;
    expect(within).toBeLessThanOrEqual(60);
  }
});

test('I16 a storm of 429 is met with less, and what was borne is kept', () => {
  const clock = new VirtualClock();
  const rate = new AdaptiveRate(clock);
  let taken = 0;
  for (let second = 0; second < 600; second += 1) {
    for (let left = 0; left < 50 && rate.nextAt <= clock.now(); left += 1) {
      rate.take();
      taken += 1;
      if (left >= 2) rate.complain(1000, 0.5);
    }
    clock.advance(1000);
  }
  expect(taken).toBeLessThan(2500);
  expect(taken).toBeGreaterThan(300);
});
