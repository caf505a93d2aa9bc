import { expect, test } from 'vitest';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, job, lockOf, picture, planOf, song, stepOf } from './facts.ts';

const graph = graphOfSteps([picture('lost'), picture('other'), picture('next'), song('a')], { budget: 10 });
const lost = create(stepOf(graph, 'lost'), { state: 'unresolved' });
const other = create(stepOf(graph, 'other'), { state: 'unresolved' });
const locked = (records: Record<string, Purchase[]>): Lock => lockOf(records, { kind: 'image' });
const actions = (lock: Lock, selected?: string[]) => {
  const facts = selected === undefined ? {} : { selected: new Set(selected) };
  const { rows, totals } = planOf(graph, lock, facts);
  return { ...Object.fromEntries(rows.map(({ address, action }) => [address, action])), left: totals.budgetLeft };
};

test('the next of the same price goes, and all that costs something else waits for it', () => {
  const plan = planOf(graph, locked({ lost: [lost] }));
  expect(plan.rows.map(({ address, action, reason }) => [address, action, reason]).slice(1)).toEqual([
    ['other', 'create', { code: 'not-bought', text: 'not bought yet' }],
    ['next', 'create', { code: 'not-bought', text: 'not bought yet' }],
    [
      'a',
      'blocked',
      {
        code: 'price-unknown',
        text: 'waits until the price of a create with a lost answer is known; then run again',
      },
    ],
  ]);
  // What was lost has cost something.
  expect(plan.totals).toMatchObject({
    unknownPrices: 2,
    held: 0,
    budgetLeft: 9,
    lostPrices: ['image/alpha-2/resolution=2k'],
  });
});

test.each<[string, Lock, string[]?]>([
  ['two were lost at the same price', locked({ lost: [lost], other: [other] })],
  ['nothing of that price is bought', locked({ lost: [lost] }), ['lost', 'a']],
  [
    'the service made it and says no price',
    locked({ lost: [job(stepOf(graph, 'lost'), { state: 'done', outputs: [] })] }),
  ],
  ['nobody knows what was asked for', locked({ lost: [{ ...lost, request: undefined } as unknown as Purchase] })],
])('nothing goes where %s', (_name, lock, selected) => {
  const records = [...lock.steps.values()].flatMap(({ purchases }) => purchases);
  for (const purchase of records) delete purchase.credits;
  const { left, ...rows } = actions(lock, selected);
  expect(left).toBe(0);
  expect(Object.values(rows)).not.toContain('create');
});

test('nothing waits where no budget is set', () => {
  const free = graphOfSteps([picture('lost'), picture('next'), song('a')]);
  const { rows, totals } = planOf(free, locked({ lost: [lost] }));
  expect(rows.map(({ action }) => action)).toEqual(['unresolved', 'create', 'create']);
  expect(totals.lostPrices).toBeUndefined();
});
