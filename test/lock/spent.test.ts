import { expect, it } from 'vitest';
import type { Lock, Purchase } from '../../src/lock/record.ts';
import { spentCredits } from '../../src/lock/spent.ts';
import { emptyLock } from '../../src/lock/write.ts';

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };

function lockOf(steps: Record<string, Purchase[]>): Lock {
  const records = Object.entries(steps).map(([address, purchases]) => ({ address, kind: 'image', purchases }));
  return { version: 1, steps: new Map(records.map((record) => [record.address, record])) };
}

it('counts nothing in an empty lock', () => {
  expect(spentCredits(emptyLock())).toBe(0);
});

it('counts each job once, shared, failed and earlier ones included, and unknown charges as nothing', () => {
  const shared: Purchase = { ...act, state: 'done', jobId: 'a', credits: 5 };
  const lock = lockOf({
    one: [shared, { ...act, generation: 2, state: 'failed', jobId: 'b', credits: 7 }],
    two: [shared],
    three: [{ ...act, state: 'running', jobId: 'a' }],
    four: [
      { ...act, state: 'running', jobId: 'c' },
      { ...act, attempt: 2, state: 'intent' },
    ],
  });
  expect(spentCredits(lock)).toBe(12);
});
