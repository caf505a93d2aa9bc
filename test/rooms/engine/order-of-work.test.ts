import { expect, test } from 'vitest';
import { linkOrders, rankOrders, urgencyOf } from '../../../src/engine/order-of-work.ts';
import { orderId, type Plan, type StepOrder } from '../../../src/plan/plan.ts';

test('I21 what is bought at an address waits for the query about an open send of it', () => {
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

test('first goes the longest chain, then what most hangs on, and what people wait to see before what nobody waits for', () => {
  const order = (address: string, ...needs: string[]) => ({ address, needs, action: 'create' }) as unknown as StepOrder;
  const orders = new Map(
    [
      ...[order('voice@a'), order('voice@b'), order('logo'), order('draft@a/1'), order('draft@b/1'), order('song')],
      ...[order('clip', 'song'), order('film', 'clip')],
      ...[order('card@a', 'logo'), order('card@b', 'logo')],
    ].map((one) => [one.address, one]),
  );
  const gates = [
    { name: 'draft@a', members: ['draft@a/1'], waiting: 1 },
    { name: 'draft@b', members: ['draft@b/1'], waiting: 6 },
  ] as unknown as Plan['gates'];
  const { dependents, counts } = linkOrders(orders);
  const first = (open: Plan['gates']) => {
    const ranks = rankOrders(orders, dependents, open);
    return [...orders.values()]
      .filter(({ address }) => !counts.has(address))
      .sort((a, b) => (ranks.get(b.address) ?? 0) - (ranks.get(a.address) ?? 0))
      .map(({ address }) => address);
  };
  expect(first(gates)).toEqual(['song', 'draft@b/1', 'logo', 'draft@a/1', 'voice@a', 'voice@b']);
  expect(first([])).toEqual(['song', 'logo', 'voice@a', 'voice@b', 'draft@a/1', 'draft@b/1']);
});

test('however many hang on a step, a longer chain goes first', () => {
  const order = (address: string, ...needs: string[]) => ({ address, needs, action: 'create' }) as unknown as StepOrder;
  const many = Array.from({ length: 3000 }, (_, index) => order(`card@${index}`, 'logo'));
  const all = [order('logo'), order('song'), order('clip', 'song'), order('film', 'clip'), ...many];
  const orders = new Map(all.map((one) => [one.address, one]));
  const ranks = rankOrders(orders, linkOrders(orders).dependents);
  expect(ranks.get('song')).toBeGreaterThan(ranks.get('logo') ?? 0);
});
