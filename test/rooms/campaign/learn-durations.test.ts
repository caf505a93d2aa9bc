import { expect, test } from 'vitest';
import { learnDurations } from '../../../src/campaign/on-engine/watch-engine.ts';
import type { RunEvent } from '../../../src/contract/event.ts';
import type { Plan } from '../../../src/plan/plan.ts';

const row = (address: string, kind: string, model?: string) => ({
  address,
  order: { address, kind, paidRequest: model === undefined ? {} : { model } },
});

test('a run on an engine tells how long its jobs took, under the names that a plan looks up', () => {
  const rows = [row('hero@a', 'image'), row('film', 'video', 'motion-2')] as unknown as Plan['rows'];
  const { on, keep } = learnDurations({ rows }, { image: [900], music: [30_000] });
  const tell = (seconds: number, event: RunEvent['event'], address: string) =>
    on({ at: new Date(seconds * 1000).toISOString(), event, address } as RunEvent);
  tell(1, 'job-created', 'hero@a');
  tell(2, 'job-created', 'film');
  tell(4, 'job-completed', 'hero@a');
  // A job of an earlier run: nobody saw it begin.
  tell(5, 'job-completed', 'hero@b');
  tell(62, 'job-completed', 'film');
  expect(keep()).toEqual({ image: [900, 3000], music: [30_000], 'video motion-2': [60_000] });
});
