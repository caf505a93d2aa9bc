import { expect, test } from 'vitest';
import { linkOrders, urgencyOf } from '../../../src/engine/order-of-work.ts';
import { orderId, type StepOrder } from '../../../src/plan/plan.ts';

test('I21 what is bought at an address waits for whoever asks about an open send of it', () => {
  const orders = [
    { address: 'hero', asksOnly: true, send: { id: 'lost' }, needs: [] },
    { address: 'hero', needs: [], key: 'k' },
    { address: 'film', needs: [], key: 'l' },
  ] as unknown as StepOrder[];
  const { dependents } = linkOrders(new Map(orders.map((one) => [orderId(one), one])));
  const [asking = '', buying = ''] = orders.map(orderId);
  expect(dependents).toEqual(new Map([[asking, [buying]]]));
});

test('what holds others up is seen first: steps that need it, then steps without a slot; at the end the few that still run', () => {
  const tail = (running: number) => urgencyOf({ dependents: 0, waiting: 0, running });
  const queued = urgencyOf({ dependents: 0, waiting: 20, running: 50 });
  expect(queued).toBeGreaterThan(2 * tail(50));
  expect(urgencyOf({ dependents: 2, waiting: 20, running: 50 })).toBeGreaterThan(queued);
  expect(urgencyOf({ dependents: 2, waiting: 0, running: 50 })).toBeGreaterThan(queued);
  expect([tail(50), tail(10), tail(2), tail(1)]).toEqual([expect.closeTo(0.7256), expect.closeTo(1.34), 16.7, 30.7]);
  // One that nobody waits for is worth less than one that somebody asks for by itself.
  expect(tail(50)).toBeLessThan(1);
  expect(tail(0)).toBe(tail(1));
});
