import { expect, test } from 'vitest';
import { systemClock } from '../../../src/contract/clock.ts';
import type { Account } from '../../../src/engine/account.ts';
import { AccountGate } from '../../../src/engine/account-gate.ts';
import { LocalGate } from '../../../src/engine/create-gate.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';

test('no create request of a closed kind leaves, and who closes it waits until the last one has ended', async () => {
  const gate = new AccountGate({ clock: systemClock, places: 2 });
  const leave = await gate.enter('image');
  const entered: string[] = [];
  const note = (name: string) => (end: () => void) => {
    entered.push(name);
    return end;
  };
  const closed = gate.close('image').then(note('closer'));
  const next = gate.enter('image').then(note('next'));
  const other = await gate.enter('video').then(note('other kind'));
  await new Promise((resolve) => setImmediate(resolve));
  expect([entered, gate.onWire]).toEqual([['other kind'], 2]);
  other();
  leave();
  const open = await closed;
  await new Promise((resolve) => setImmediate(resolve));
  expect(entered).toEqual(['other kind', 'closer']);
  await expect.poll(() => gate.onWire).toBe(0);
  open();
  (await next)();
  expect(entered).toEqual(['other kind', 'closer', 'next']);
  await expect.poll(() => gate.onWire).toBe(0);
});

test('of a class that a charge has closed, only requests for lost answers leave', async () => {
  const closed = { isClosed: () => true } as unknown as Account;
  const account = new AccountGate({ clock: systemClock, places: 1 });
  const gate = new LocalGate(account, closed, { run: 'r', emit: () => {} });
  const order = { address: 'hero', kind: 'image', price: { class: 'image' } } as StepOrder;
  for (const isAsked of [true, false]) {
    const entered = await gate.enter(order, { signal: gate.stopping, isAsked });
    expect(entered).toBe(isAsked ? 'in' : 'stop');
    if (isAsked) gate.leave(order, { is: 'accepted' });
  }
});
