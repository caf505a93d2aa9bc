import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Purchase, Refusal } from '../../../src/lock/record.ts';
import { countRefused, idempotencyKey } from '../../../src/plan/purchases/key.ts';

const purchase = { campaign: 'aurora', fingerprint: '1:abc', repeat: 1, attempt: 1 };

test('the key of a purchase never changes: another one would pay again', () => {
  expect(idempotencyKey(purchase)).toBe('mb1-cc2bfbb21efbd81ee181d2b96bd3196794fc3533');
});

test('keys fit the service and differ whenever the purchase does', () => {
  const purchases = fc.record({
    campaign: fc.string({ maxLength: 80 }),
    fingerprint: fc.string(),
    repeat: fc.integer({ min: 1, max: 99 }),
    attempt: fc.integer({ min: 1, max: 99 }),
  });
  fc.assert(
    fc.property(purchases, purchases, (a, b) => {
      expect(idempotencyKey(a)).toMatch(/^[\x21-\x7e]{1,128}$/);
      expect(idempotencyKey({ ...a })).toBe(idempotencyKey(a));
      expect(idempotencyKey(a) === idempotencyKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
});

describe('the keys of a purchase are walked from the first', () => {
  const walked = { campaign: 'aurora', fingerprint: '1:abc', repeat: 2 };
  const refusedAt = (attempt: number, more: Partial<typeof purchase> = {}): Omit<Refusal, 'decided'> => ({
    fingerprint: '1:abc',
    generation: 2,
    attempt,
    state: 'refused',
    key: idempotencyKey({ ...walked, attempt, ...more }),
  });

  test.each<[string, Purchase[], number]>([
    ['nothing was refused', [], 0],
    ['the first was', [refusedAt(1)], 1],
    ['the first three were, in any order', [refusedAt(3), refusedAt(1), refusedAt(2)], 3],
    ['the second was, in a clone that had counted on: the first is tried', [refusedAt(2)], 0],
    ['the third was beside the first: the second is tried', [refusedAt(3), refusedAt(1)], 1],
    ['those of another purchase were', [refusedAt(1, { repeat: 1 }), refusedAt(1, { repeat: 3 })], 0],
    ['those of another request were', [refusedAt(1, { fingerprint: '1:abd' })], 0],
    ['those of another campaign were', [refusedAt(1, { campaign: 'borealis' })], 0],
    ['the key was refused whatever the lock says beside it', [{ ...refusedAt(1), generation: 9, attempt: 7 }], 1],
    ['the key has a job', [{ ...refusedAt(1), state: 'running', jobId: 'j' }], 0],
    ['the key is open', [{ ...refusedAt(1), state: 'intent', send: 's1' }], 0],
    ['the key is open and was refused', [refusedAt(1), { ...refusedAt(1), state: 'intent', send: 's1' }], 1],
  ])('%s', (_name, purchases, count) => {
    expect(countRefused(purchases, walked)).toBe(count);
  });
});
