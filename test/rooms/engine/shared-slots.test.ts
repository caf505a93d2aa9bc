import { expect, test } from 'vitest';
import type { Ports } from '../../../src/contract/ports.ts';
import { Account } from '../../../src/engine/account.ts';
import { drive } from '../../../src/engine/drive.ts';
import { SharedSlots } from '../../../src/engine/shared-slots.ts';
import type { Plan } from '../../../src/plan/plan.ts';

/** A plan with jobs that end when they are told to. */
function plan(slots: SharedSlots, name: string, begun: string[]) {
  const ends: (() => void)[] = [];
  const ask = () =>
    slots.wait(() => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    });
  const end = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { ask, end };
}

test('plans have as many places as the one that asks for the most, in the order in which they ask', async () => {
  const slots = new SharedSlots();
  const begun: string[] = [];
  const [one, other] = [plan(slots, 'one', begun), plan(slots, 'other', begun)];
  slots.join(1);
  const leave = slots.join(2);
  for (const { ask } of [one, one, other, one]) ask();
  expect([begun, slots.taken]).toEqual([['one', 'one'], 2]);
  await one.end();
  expect(begun).toEqual(['one', 'one', 'other']);
  leave();
  await one.end();
  expect([begun, slots.taken]).toEqual([['one', 'one', 'other'], 1]);
  await other.end();
  expect(begun).toEqual(['one', 'one', 'other', 'one']);
});

test('a plan waits while another one has all the places, and does not end with orders left', async () => {
  const slots = new SharedSlots();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const begin = ({ address }: { address: string }) => {
    begun.push(address);
    return new Promise((resolve) => ends.push(() => resolve({ do: 'stop' })));
  };
  const ports = {
    ...{ emit() {}, signal: new AbortController().signal, service: {}, ledger: { begin } },
  } as unknown as Ports;
  const start = (address: string) => {
    const order = {
      address,
      asksOnly: true,
      send: { id: address },
      needs: [],
      action: 'create',
      price: { credits: 1 },
    };
    const plan = { rows: [{ order }], totals: {} } as unknown as Plan;
    return drive(plan, ports, {
      concurrency: 1,
      onError: 'continue',
      slots,
      account: new Account({ caps: [], spentBefore: 0 }),
    });
  };
  const [first, second] = [start('first'), start('second')];
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['first']);
  ends.shift()?.();
  await first.ends;
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['first', 'second']);
  ends.shift()?.();
  expect((await second.ends).size).toBe(1);
});
