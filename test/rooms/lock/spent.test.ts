import { expect, it } from 'vitest';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { spentCredits } from '../../../src/lock/spent.ts';
import { emptyLock } from '../../../src/lock/write.ts';

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };

function lockOf(steps: Record<string, Purchase[]>): Lock {
  const records = Object.entries(steps).map(([address, purchases]) => ({ address, kind: 'image', purchases }));
  return { version: 2, steps: new Map(records.map((record) => [record.address, record])) };
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
      { ...act, attempt: 2, state: 'intent', send: 's' },
    ],
  });
  expect(spentCredits(lock)).toBe(12);
});

it('counts one id for two requests as two charges: services number the jobs of each kind by themselves, or err', () => {
  const of = (fingerprint: string, credits: number): Purchase => ({
    ...act,
    fingerprint,
    state: 'done',
    jobId: '7',
    credits,
  });
  expect(spentCredits(lockOf({ image: [of('1:image', 5)], video: [of('1:video', 60)] }))).toBe(65);
  expect(spentCredits(lockOf({ hero: [of('1:video', 60), { ...of('1:image', 5), kind: 'image' }] }))).toBe(65);
});

it('counts of one job the highest charge that is known', () => {
  const of = (credits: number): Purchase => ({ ...act, state: 'done', jobId: '7', credits });
  expect(spentCredits(lockOf({ one: [of(5)], two: [of(6)], three: [of(4)] }))).toBe(6);
});

it('counts what was forgotten, and nothing that was never charged', () => {
  const lock = lockOf({
    one: [{ ...act, state: 'done', jobId: 'a', credits: 5, forgotten: true }],
    two: [{ ...act, state: 'unresolved', send: 's', writtenOff: true, ...({ credits: 9 } as object) }],
  });
  expect(spentCredits(lock)).toBe(5);
});
