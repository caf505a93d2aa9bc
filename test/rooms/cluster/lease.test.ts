import { describe, expect, test } from 'vitest';
import { guardCreates, Lease, type LeaseClocks, leaseMs } from '../../../src/cluster/head/lease.ts';
import type { Service } from '../../../src/contract/ports.ts';

const half = leaseMs / 2;
const held = async () => true;
const never = new AbortController().signal;

/** Two clocks that go together until one is told otherwise. */
function makeClocks() {
  const now = { monotonic: 5000, wall: 1_700_000_000_000 };
  const clocks: LeaseClocks = { monotonic: () => now.monotonic, wall: () => now.wall };
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

  test('beats until it is lost', async () => {
    const lease = new Lease(makeClocks().clocks);
    let beats = 0;
    const beat = async () => {
      beats += 1;
      return beats < 4;
    };
    await lease.keep(beat, { signal: never, sleep: () => Promise.resolve() });
    expect(beats).toBe(4);
    expect(lease.lost.aborted).toBe(true);
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
