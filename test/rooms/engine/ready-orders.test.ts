import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReadyOrders } from '../../../src/engine/chained-orders.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';

test('orders leave by priority, and among equals in the order in which they came', () => {
  const priorities = fc.array(fc.constantFrom(0, 1, 99_999, 1_000_000, 3_000_000), { maxLength: 60 });
  fc.assert(
    fc.property(priorities, fc.nat(60), (wanted, takenBetween) => {
      const priorityOf = (order: StepOrder) => wanted[order.attempt] ?? -1;
      const ready = new ReadyOrders(priorityOf);
      const waiting: StepOrder[] = [];
      const takeOne = () => {
        const best = Math.max(...waiting.map(priorityOf));
        const next = waiting.find((order) => priorityOf(order) === best);
        expect(ready.take()).toBe(next);
        if (next !== undefined) waiting.splice(waiting.indexOf(next), 1);
        expect(ready.size).toBe(waiting.length);
      };
      for (const [index] of wanted.entries()) {
        const order = { attempt: index } as StepOrder;
        ready.add(order);
        waiting.push(order);
        if (index === takenBetween) takeOne();
      }
      while (waiting.length > 0) takeOne();
      expect(ready.take()).toBeUndefined();
    }),
  );
});
