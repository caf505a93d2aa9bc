import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Account } from '../../../src/engine/account.ts';
import { Queue } from '../../../src/engine/queue.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';

test('orders leave by what is done of them, then by rank, and among equals in the order in which they came', () => {
  const stages = [
    { action: 'attach', jobId: 'j' },
    { action: 'create', jobId: 'j' },
    { action: 'download' },
    { action: 'create', send: { id: 's' } },
    { action: 'create' },
  ];
  const importance = [0, 0, 1, 2, 3];
  const kinds = fc.array(fc.record({ stage: fc.nat(4), rank: fc.nat(3) }), { maxLength: 60 });
  fc.assert(
    fc.property(kinds, fc.nat(60), (wanted, takenBetween) => {
      const all = wanted.map(({ stage, rank }, index) => {
        const order = { address: `a${index}`, needs: [], price: { class: 'p', credits: 1 }, ...stages[stage] };
        return { order: order as unknown as StepOrder, key: [importance[stage], -rank], rank };
      });
      const orders = new Map(all.map(({ order }) => [order.address, order]));
      const ranks = new Map(all.map(({ order, rank }) => [order.address, rank]));
      const account = new Account({ caps: [], spentBefore: 0 });
      const queue = new Queue(orders, ranks, { account });
      const waiting: typeof all = [];
      const takeOne = () => {
        const next = waiting.toSorted((a, b) => compare(a.key, b.key))[0];
        expect(queue.take({ isIdle: false })).toBe(next?.order);
        if (next !== undefined) waiting.splice(waiting.indexOf(next), 1);
        expect(queue.size).toBe(waiting.length);
      };
      for (const [index, one] of all.entries()) {
        queue.add(one.order);
        waiting.push(one);
        if (index === takenBetween) takeOne();
      }
      while (waiting.length > 0) takeOne();
      expect(queue.take({ isIdle: true })).toBeUndefined();
    }),
  );
});

function compare(a: readonly (number | undefined)[], b: readonly (number | undefined)[]): number {
  const index = a.findIndex((one, at) => one !== b[at]);
  return (a[index] ?? 0) - (b[index] ?? 0);
}
