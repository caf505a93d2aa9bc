import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Boss, headQueue } from '../../../src/cluster/database/boss.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { type HeadBoss, offerHead, type Seat, takeSeat } from '../../../src/cluster/head/account.ts';
import { leaseMs } from '../../../src/cluster/head/lease.ts';
import { endRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);

describe('the seat of an account’s head', () => {
  let db: Database;
  let boss: Boss;
  beforeEach(async () => {
    ({ db, boss } = await engineHere());
  });

  const submit = (campaign = 'spring') => submitRun(db, boss, submission({ account, campaign }));
  const take = (worker: string) => takeSeat({ db, boss, account, worker });
  const taken = async (worker: string): Promise<Seat> => {
    const seat = await take(worker);
    if (seat === undefined) throw new Error('the seat is not free');
    onTestFinished(() => seat.lease.lose());
    return seat;
  };
  const accountRow = async () =>
    (await db.query<{ epoch: string; head: string | null }>('SELECT epoch, head FROM mediabatch.account'))[0];
  /** As the monitor of the queue does it after a missed heartbeat. */
  const missHeartbeat = async () => {
    await db.query(
      `UPDATE mediabatch_queue.job SET heartbeat_on = now() - interval '1 minute', state = 'retry' WHERE state = 'active'`,
    );
  };

  test('is for one worker, and free again when no run is open', async () => {
    const { id } = await submit();
    const seat = await taken('first');
    expect(await take('second')).toBeUndefined();
    expect(seat.lease.isFresh()).toBe(true);
    expect(await seat.beat()).toBe(true);
    expect(await accountRow()).toEqual({ epoch: String(seat.epoch), head: 'first' });
    await endRun(db, { account, epoch: seat.epoch, run: id }, { exit: 0, outcomes: {} });
    expect(await seat.leave({ isClean: true })).toBe('no run is open');
    expect(await accountRow()).toEqual({ epoch: String(seat.epoch), head: null });
    expect(await take('second')).toBeUndefined();
  });

  test('a head that left knows itself lost, and nothing that it says counts', async () => {
    await submit();
    const first = await taken('first');
    await missHeartbeat();
    expect(await first.beat()).toBe(false);
    const second = await taken('second');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(await first.leave({ isClean: true })).toBe('taken over');
    expect(await accountRow()).toEqual({ epoch: String(second.epoch), head: 'second' });
    expect(await second.beat()).toBe(true);
  });

  test('an epoch is not given out again by a database that was put back from an older copy', async () => {
    await submit();
    const [copy] = await db.query<{ epoch: string }>('SELECT epoch FROM mediabatch.account');
    const first = await taken('first');
    await missHeartbeat();
    await db.query('UPDATE mediabatch.account SET epoch = $1, head = NULL', [copy?.epoch]);
    // A second later, as a copy is never put back in less.
    await setTimeout(1000);
    const second = await taken('second');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(await first.leave({ isClean: true })).toBe('taken over');
  });

  test('whoever takes it over from a silent head waits out the lease and the longest create', async () => {
    await submit();
    const first = await taken('first');
    expect(first.waitMs()).toBe(0);
    await missHeartbeat();
    const second = await taken('second');
    expect(second.waitMs()).toBeGreaterThan(leaseMs);
    expect(second.waitMs()).toBeLessThanOrEqual(leaseMs + 7000);
    // It leaves before that time is over, so the next one waits for what is left of it.
    await setTimeout(100);
    const left = second.waitMs();
    expect(await second.leave({ isClean: true })).toBe('handed over');
    const third = await taken('third');
    expect(third.waitMs()).toBeGreaterThan(leaseMs);
    expect(third.waitMs()).toBeLessThanOrEqual(left);
  });

  test('handed back it is free at once, and the next head has nothing to wait for', async () => {
    await submit();
    const first = await taken('first');
    expect(await first.leave({ isClean: true })).toBe('handed over');
    const second = await taken('second');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(second.waitMs()).toBe(0);
    expect(await second.leave({ isClean: false })).toBe('handed over');
    expect((await taken('third')).waitMs()).toBeGreaterThan(leaseMs);
  });

  test('a run that is submitted while the last head leaves is not forgotten', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await submit(`first ${round}`);
      const seat = await taken('first');
      await endRun(db, { account, epoch: seat.epoch, run: id }, { exit: 0, outcomes: {} });
      const [, next] = await Promise.all([seat.leave({ isClean: true }), submit(`second ${round}`)]);
      const then = await taken('second');
      await endRun(db, { account, epoch: then.epoch, run: next.id }, { exit: 0, outcomes: {} });
      expect(await then.leave({ isClean: true })).toBe('no run is open');
    }
  });

  test('a job that was deleted is sent again, and a waiting one stays alone', async () => {
    await submit();
    await boss.deleteAllJobs(headQueue(account));
    expect(await take('first')).toBeUndefined();
    await offerHead({ db, boss, account });
    await offerHead({ db, boss, account });
    await taken('first');
    expect(await take('second')).toBeUndefined();
  });

  test('a worker that was told of the job too late raises no epoch', async () => {
    await submit();
    // Its fetch is answered, and then the server is away until somebody else has the job.
    let epoch = 0;
    const late: HeadBoss = {
      createQueue: boss.createQueue.bind(boss),
      send: boss.send.bind(boss),
      touch: boss.touch.bind(boss),
      complete: boss.complete.bind(boss),
      fail: boss.fail.bind(boss),
      fetch: (async (name: string) => {
        const jobs = await boss.fetch(name);
        await missHeartbeat();
        ({ epoch } = await taken('second'));
        return jobs;
      }) as HeadBoss['fetch'],
    };
    expect(await takeSeat({ db, boss: late, account, worker: 'late' })).toBeUndefined();
    expect(await accountRow()).toEqual({ epoch: String(epoch), head: 'second' });
  });
});
