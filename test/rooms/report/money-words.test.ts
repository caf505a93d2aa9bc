import { expect, test } from 'vitest';
import type { Charge } from '../../../src/plan/prices/list-charges.ts';
import { chargesText } from '../../../src/report/plan/compare-text.ts';
import { capText } from '../../../src/report/plan/plan-money.ts';

const charge: Charge = {
  ...{ name: 'c', id: 'job', address: 'hero', task: 'hero', kind: 'image', model: null, tags: null },
  ...{ went: 'delivered', credits: 2 },
};
const post: Charge = { ...charge, kind: 'post', credits: 0 };
const held: Charge = { ...charge, went: 'held', credits: null };

test('what was bought is told without counting posts as jobs for 0 credits', () => {
  expect(chargesText([charge, charge])).toBe('2 jobs for 4 credits');
  expect(chargesText([post, post, post])).toBe('3 posts');
  expect(chargesText([charge, post, held])).toBe('1 job for 2 credits, 1 post, and 1 create whose charge is not known');
  expect(chargesText([held, held])).toBe('2 creates whose charge is not known');
});

test('a question about prices that nobody knows says what they stay within', () => {
  const within = ', within the 50 that are left of the budget';
  expect(capText({ unknownPrices: 4, toSpend: null, ceiling: 15, budgetLeft: 50 })).toBe(within);
  expect(capText({ unknownPrices: 4, toSpend: 48, ceiling: 60, budgetLeft: 50 })).toBe(within);
  expect(capText({ unknownPrices: 4, toSpend: 12, ceiling: 15, budgetLeft: 50 })).toBe('');
  expect(capText({ unknownPrices: 0, toSpend: 60, ceiling: 60, budgetLeft: 50 })).toBe('');
  expect(capText({ unknownPrices: 4, toSpend: null, ceiling: 15 })).toBe('');
});
