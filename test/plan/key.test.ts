import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idempotencyKey } from '../../src/plan/key.ts';

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
