import { describe, expect, test } from 'vitest';
import type { StepOrder, WorkRow } from '../../../src/plan/plan.ts';
import { expectTime } from '../../../src/plan/time-left.ts';
import { row } from '../report/samples.ts';

function job(address: string, { model, needs = [] }: { model?: string; needs?: string[] } = {}): WorkRow {
  const order = { needs, paidRequest: model === undefined ? {} : { model } } as unknown as StepOrder;
  return { ...(row(address, 'create') as WorkRow), order };
}

const many = (count: number) => Array.from({ length: count }, (_, index) => job(`hero@${index}`));

describe('how long a plan takes', () => {
  test.each([
    ['one after the other', many(6), 1, 60_000],
    ['side by side', many(6), 3, 20_000],
    ['a rest that fills no round', many(7), 3, 30_000],
    ['a chain, however many may run', [job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] })], 8, 30_000],
    ['a chain beside single steps', [job('a'), job('b', { needs: ['a'] }), ...many(2)], 2, 20_000],
  ])('%s', (_name, rows, concurrency, ms) => {
    expect(expectTime(rows, { concurrency, durations: { image: [10_000] } })).toEqual({
      expected: { lowMs: ms, highMs: ms },
    });
  });

  test('a large plan is done when its work is done', () => {
    const { expected } = expectTime(many(6000), { concurrency: 60, durations: { image: [10_000] } });
    expect((expected?.lowMs ?? 0) / 1_000_000).toBeCloseTo(1, 2);
    expect(expected?.highMs).toBe(expected?.lowMs);
  });

  test('is a range where jobs differ, hardly beyond what was seen', () => {
    const durations = { image: [1000, 2000, 4000, 60_000] };
    const { expected } = expectTime(many(5), { concurrency: 2, durations });
    expect(expected?.lowMs).toBeGreaterThanOrEqual(3000);
    expect(expected?.highMs).toBeGreaterThan(expected?.lowMs ?? 0);
    expect(expected?.highMs).toBeLessThanOrEqual(240_000);
  });

  test('is unknown where a kind and model was never timed, and both are told', () => {
    const rows = [job('a'), job('b', { model: 'gamma' }), job('c', { model: 'alpha' })];
    expect(
      expectTime(rows, { concurrency: 2, durations: { image: [1], 'image alpha': [1], 'image gamma': [] } }),
    ).toEqual({
      untimed: ['image gamma'],
    });
  });

  test('is nothing where nothing is watched', () => {
    const free = { ...job('a'), action: 'download' as const };
    expect(expectTime([free, row('b', 'keep')], { concurrency: 2, durations: {} })).toEqual({});
  });
});
