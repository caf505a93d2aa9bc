import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AdaptiveRate } from '../../../../src/ground/adaptive-rate.ts';
import type { Http, HttpAnswer } from '../../../../src/service/http.ts';
import { Poller } from '../../../../src/service/polling/poller.ts';
import { watchJob } from '../../../../src/service/watch.ts';
import { runs } from '../../../rig/runs.ts';
import { VirtualClock } from '../../../rig/virtual-clock.ts';

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
  ...hints.map(
    (hint): HttpAnswer => ({ is: 'answer', status: 429, headers: { 'retry-after': hint }, json: { success: false } }),
  ),
  ...['RENDERING', '', 'completed', 'QUEUED', 'PROCESSING', '\u0000'].map(
    (status): HttpAnswer => ({ is: 'answer', status: 200, headers: {}, json: { data: { id: 'j', status } } }),
  ),
  { is: 'answer', status: 200, headers: {}, json: { data: { id: 'j', status: 'PROCESSING', createdAt: 'never' } } },
  { is: 'answer', status: 404, headers: {}, json: { success: false } },
];

test('I16 no hint of a server, and no status, makes it ask in a busy loop or never again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(odd.length - 1), { minLength: 1, maxLength: 12 }), async (picks) => {
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
      await clock.run(
        watchJob(
          { kind: 'image', jobId: 'j' },
          {
            clock,
            poller,
            health: { failures: 0, countAgainAt: 0 },
            patienceMs: 600_000,
            redact: (text) => text,
          },
          { signal: new AbortController().signal, fresh: true, onStatus: () => {}, notice: () => {} },
        ),
      );
      const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
      // The end of its patience brings one more look, however recent the one before it was.
      for (const gap of gaps.slice(0, -1)) expect(gap).toBeGreaterThanOrEqual(100);
      for (const gap of gaps) expect(gap).toBeLessThanOrEqual(160_000);
      for (let minute = 0; minute < 10; minute += 1) {
        const within = asked.filter((at) => at >= minute * 60_000 && at < (minute + 1) * 60_000).length;
        expect(within).toBeLessThanOrEqual(60);
      }
    }),
    { numRuns: runs(200), examples: [[[17, 10, 10, 17]]] },
  );
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
