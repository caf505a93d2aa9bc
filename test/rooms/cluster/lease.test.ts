import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { guardCreates, Lease, leaseMs } from '../../../src/cluster/leader/account.ts';
import { openStore } from '../../../src/cluster/store/store.ts';
import { makeWakeUp } from '../../../src/cluster/wake-up.ts';
import { startWorker } from '../../../src/cluster/worker/start-worker.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { WorkerEvent } from '../../../src/contract/engine-state.ts';
import type { Service } from '../../../src/contract/ports.ts';
import { makeFolder } from '../../rig/folder.ts';
import { settled } from '../../rig/held.ts';
import { freshDatabase } from '../../rig/postgres.ts';
import { VirtualClock } from '../../rig/virtual-clock.ts';

const half = leaseMs / 2;
const held = async () => true;
const never = new AbortController().signal;

/** Two clocks that go together until one is told otherwise. */
function makeClocks() {
  const now = { monotonic: 5000, wall: 1_700_000_000_000 };
  const clocks = { monotonic: () => now.monotonic, wall: () => now.wall };
  const pass = (ms: number) => {
    now.monotonic += ms;
    now.wall += ms;
  };
  return { now, clocks, pass };
}

describe('a lease', () => {
  test('is fresh for half of it after the database has confirmed a heartbeat, and not before', async () => {
    const { clocks, pass } = makeClocks();
    const lease = new Lease(clocks);
    expect(lease.isFresh()).toBe(false);
    await lease.confirm(held);
    expect(lease.isFresh()).toBe(true);
    pass(half - 1);
    expect(lease.isFresh()).toBe(true);
    pass(1);
    expect(lease.isFresh()).toBe(false);
    await lease.confirm(held);
    expect(lease.isFresh()).toBe(true);
  });

  test('the age of a heartbeat counts from when it was sent, not from when it was confirmed', async () => {
    const { clocks, pass } = makeClocks();
    const lease = new Lease(clocks);
    await lease.confirm(async () => {
      pass(half);
      return true;
    });
    expect(lease.isFresh()).toBe(false);
  });

  test.each([
    ['the machine slept, and its monotonic clock with it', { monotonic: 10, wall: 60_000 }],
    ['its wall clock was set back by what it slept', { monotonic: 60_000, wall: 10 }],
    ['its wall clock was set forward', { monotonic: 10, wall: 3_600_000 }],
    ['its wall clock was set back', { monotonic: 10, wall: -3_600_000 }],
  ])('%s: not fresh until the next heartbeat', async (_name, jump) => {
    const { clocks, now } = makeClocks();
    const lease = new Lease(clocks);
    await lease.confirm(held);
    now.monotonic += jump.monotonic;
    now.wall += jump.wall;
    expect(lease.isFresh()).toBe(false);
    await lease.confirm(held);
    expect(lease.isFresh()).toBe(true);
  });

  test('once lost it is never fresh again', async () => {
    const lease = new Lease(makeClocks().clocks);
    await lease.confirm(held);
    expect(await lease.confirm(async () => false)).toBe(false);
    expect(lease.lost.aborted).toBe(true);
    await lease.confirm(held);
    expect(lease.isFresh()).toBe(false);
  });
});

describe('creates under a lease', () => {
  const accepted = { is: 'accepted', job: { jobId: 'j', credits: 1, balance: 9 } } as const;
  function serve() {
    const sent: string[] = [];
    const create: Service['create'] = async ({ key }) => {
      sent.push(key);
      return accepted;
    };
    return { sent, service: { create } as Service };
  }
  const call = { kind: 'image', body: '{}', key: 'a' };

  test('one waits for the heartbeat, however long the database is away, and leaves then', async () => {
    const { clocks, pass } = makeClocks();
    const lease = new Lease(clocks);
    await lease.confirm(held);
    pass(leaseMs);
    const { sent, service } = serve();
    const answer = guardCreates(service, { lease, signal: never }).create(call);
    await Promise.resolve();
    expect(sent).toEqual([]);
    await lease.confirm(held);
    expect(await answer).toBe(accepted);
    expect(sent).toEqual(['a']);
  });

  test.each(['lost', 'interrupted'])('%s meanwhile: it is not sent', async (how) => {
    const lease = new Lease(makeClocks().clocks);
    const interruption = new AbortController();
    const { sent, service } = serve();
    const answer = guardCreates(service, { lease, signal: interruption.signal }).create(call);
    if (how === 'lost') lease.lose();
    else interruption.abort();
    expect(await answer).toMatchObject({ is: 'not-sent' });
    expect(sent).toEqual([]);
  });
});

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

test('a worker that is started before its store is made waits for it, says so once, and writes nothing there', async () => {
  const store = makeFolder();
  const ending = new AbortController();
  const news: WorkerEvent[] = [];
  let looks = 0;
  const clock = {
    ...systemClock,
    async sleep(ms: number, signal?: AbortSignal) {
      if (ms === 3000) looks += 1;
      await wait(Math.min(ms, 20), undefined, { signal }).catch(() => {});
    },
  };
  const working = startWorker({
    ...{
      engine: await freshDatabase(),
      version: '0',
      clock,
      signal: ending.signal,
      exitWhenIdle: false,
      store,
      files: 2,
    },
    access: { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_of_a_test' },
    log: (one) => news.push(one),
    accountOf: () => undefined,
    onSize: () => {},
  });
  while (looks < 3) await wait(5);
  expect(news.map(({ event }) => event)).toEqual(['no-store']);
  expect(readdirSync(store)).toEqual([]);
  await openStore(store, { makes: true });
  while (!news.some(({ event }) => event === 'started')) await wait(5);
  expect(news.find(({ event }) => event === 'started')).toMatchObject({ store, files: 2 });
  ending.abort('SIGTERM');
  await working;
});
