import { expect, test } from 'vitest';
import { makeWakeUp } from '../../../src/cluster/wake-up.ts';
import { settled } from '../../rig/held.ts';
import { VirtualClock } from '../../rig/virtual-clock.ts';

function open() {
  const sleeps: number[] = [];
  const clock = new VirtualClock();
  const sleep = async (ms: number, signal?: AbortSignal) => {
    sleeps.push(ms);
    if (signal?.aborted !== true) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  };
  const wakeUp = makeWakeUp({ clock: Object.assign(clock, { sleep }), isFor: (payload) => payload === 'mine' });
  return { wakeUp, sleeps };
}

test('what is told while nobody waits ends the next wait before it begins, and no other', async () => {
  const { wakeUp, sleeps } = open();
  wakeUp.onNotification('mine');
  void wakeUp.within(1000);
  expect(sleeps).toEqual([]);
  await settled();
  const second = wakeUp.within(1000);
  expect(sleeps).toEqual([1000]);
  wakeUp.onNotification('mine');
  await second;
});

test('what is told of another one wakes nobody; after a connection that broke anything may have been missed', async () => {
  const { wakeUp, sleeps } = open();
  wakeUp.onNotification('theirs');
  const waiting = wakeUp.within(1000);
  expect(sleeps).toEqual([1000]);
  wakeUp.onNotification(undefined);
  await waiting;
});
