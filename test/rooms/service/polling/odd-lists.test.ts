import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Campaign, campaign, longestLagMs, watchAll } from '../../../rig/odd-lists.ts';

async function expectSeen(given: Campaign): Promise<void> {
  const longestMs = longestLagMs(given);
  const { ends, service, looks, tookMs } = await watchAll({ ...given, longestMs });
  for (const { is } of ends) expect(is).toBe('completed');
  for (const { job, lagMs } of ends) expect(lagMs, job.id).toBeLessThan(longestMs);
  // A clock that is set on ends a pause early.
  if (!given.jumps?.some(({ byMs }) => byMs > 0)) expect(service.tooEarly).toBe(0);
  expect(service.refused).toBeLessThan(70 + service.sent.length / 10);
  // Jobs are thought about a few times a second, and after each read, at the most.
  expect(looks).toBeLessThan(ends.length * (100 + tookMs / 100 + 4 * service.sent.length));
}

test('I16 whatever lists say and clocks do, each end is seen, no kind starves, and a 429 is heeded', async () => {
  await fc.assert(fc.asyncProperty(campaign, expectSeen), { numRuns: 40 });
}, 120_000);

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
}, 60_000);
