import { describe, expect, test } from 'vitest';
import { AccountSpending, readLimit, readSpendingLeft } from '../../../src/cluster/leader/account-spending.ts';
import type { RunRecord } from '../../../src/cluster/runs/run-record.ts';
import { LeadershipLostError } from '../../../src/contract/errors.ts';
import type { SpendingLimits } from '../../../src/contract/spending.ts';
import type { Lock, LockLine } from '../../../src/lock/record.ts';
import { openFresh } from '../../rig/postgres.ts';

const account = 'a'.repeat(32);
const clock = { now: () => Date.now(), random: Math.random, sleep: () => Promise.resolve() };
const runOf = (campaign: string) => ({ id: `run of ${campaign}`, campaign }) as RunRecord;

/** An account whose heads come one after the other. */
async function accountHere() {
  const { database: db } = await openFresh();
  await db.query('INSERT INTO mediabatch.account (id) VALUES ($1)', [account]);
  let epoch = 0;
  const driven = new Set<string>();
  /** The next head, with the limits that its worker was told. */
  const head = async (own: SpendingLimits | undefined = { day: 10 }) => {
    epoch += 1;
    await db.query('UPDATE mediabatch.account SET epoch = $1', [epoch]);
    driven.clear();
    const drives = (run: string) => driven.has(run);
    const spending = await AccountSpending.open({ db, clock, account, epoch, own, drives });
    const holdFor = (campaign: string) => {
      driven.add(runOf(campaign).id);
      const journal = spending.of(runOf(campaign), lockWith());
      const hold = (name: string, credits: number | null, { isSent = false, likely = 1 } = {}) =>
        journal.hold({ key: `key of ${name}`, credits, likely, isSent });
      const charge = (name: string, credits: number) =>
        void journal.add({ key: `key of ${name}`, state: 'running', jobId: name, credits } as LockLine);
      return { journal, hold, charge, release: (name: string) => journal.release(`key of ${name}`) };
    };
    return { spending, holdFor };
  };
  const tellLimits = (worker: string, limits: SpendingLimits, ago = '0 s') =>
    db.query(
      `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, files, beat, doing)
       VALUES ($1, $2, 'here', 1, 1, '1', 0, now() - $3::interval, $4)`,
      [worker, account, ago, JSON.stringify({ is: 'waiting', limits })],
    );
  return { db, head, tellLimits, driven };
}

/** A lock with what became of purchases at one address. */
const lockWith = (...purchases: object[]) =>
  ({
    steps: new Map([['x', { address: 'x', purchases: purchases.map((one) => ({ key: 'key of x', ...one })) }]]),
  }) as unknown as Lock;

describe('I49 what the campaigns of an account spend on an engine', () => {
  test('never passes the limit, held or charged', async () => {
    const { head } = await accountHere();
    const { spending, holdFor } = await head();
    const [one, other] = [holdFor('lamp'), holdFor('vase')];
    const both = await Promise.all([one.hold('x', 6), other.hold('x', 5)]);
    expect(both).toEqual(['held', { over: 'the limit is 10 credits a day (worker --limit), and 4 are left' }]);
    expect(await other.hold('y', 4)).toBe('held');
    one.release('x');
    expect(await other.hold('z', 6)).toBe('held');
    other.charge('y', 7);
    expect(spending.spent()).toMatchObject({ day: 13, month: 13 });
  });

  test('is held by a head that was killed between its hold and its create, until the lock tells the next one', async () => {
    const { head } = await accountHere();
    const killed = (await head()).holdFor('lamp');
    expect(await killed.hold('x', 8)).toBe('held');
    const unread = await head();
    expect(await unread.holdFor('vase').hold('y', 3)).toMatchObject({ over: expect.stringContaining('2 are left') });
    expect(await unread.holdFor('lamp').hold('x', 8)).toBe('held');
    // Its lock knows of no such send: it never left.
    const next = await head();
    next.spending.addRun(runOf('lamp'), lockWith());
    expect(await next.holdFor('vase').hold('y', 10)).toBe('held');
  });

  test.each([
    ['a job of 3 credits', { state: 'running', jobId: 'job-1', credits: 3 }, 3],
    ['a job of which nobody said the charge', { state: 'running', jobId: 'job-1' }, 8],
    ['an open send', { state: 'intent', send: '0123456789abcdef' }, 8],
    ['a refusal', { state: 'refused', error: 'no' }, 0],
  ])('counts as its lock has it: %s', async (_what, purchase, counts) => {
    const { head } = await accountHere();
    expect(await (await head()).holdFor('lamp').hold('x', 8)).toBe('held');
    const { spending } = await head();
    spending.addRun(runOf('lamp'), lockWith(purchase));
    expect(spending.spent()).toMatchObject({ day: counts, month: counts });
    await spending.idle();
    expect((await head()).spending.spent()).toMatchObject({ day: counts });
  });

  test('is charged once, although the charge was on record before its job was', async () => {
    const { head } = await accountHere();
    const first = await head();
    const killed = first.holdFor('lamp');
    expect(await killed.hold('x', 8)).toBe('held');
    killed.charge('x', 8);
    await first.spending.idle();
    const { spending, holdFor } = await head();
    const next = holdFor('lamp');
    expect(await next.hold('x', 8, { isSent: true })).toBe('held');
    expect(spending.spent()).toMatchObject({ day: 8 });
    next.charge('x', 7);
    expect(spending.spent()).toMatchObject({ day: 7 });
  });

  test('is written by one head alone: what another one has taken over adds nothing, and lets nothing leave', async () => {
    const { head } = await accountHere();
    const frozen = (await head()).holdFor('lamp');
    const next = await head();
    await expect(frozen.hold('x', 1)).rejects.toThrow(LeadershipLostError);
    await expect(frozen.hold('y', 1)).rejects.toThrow(LeadershipLostError);
    expect(next.spending.spent()).toMatchObject({ day: 0 });
    expect((await head()).spending.spent()).toMatchObject({ day: 0 });
  });

  test('a price that is found out goes alone, and one that nobody finds out any more is said so', async () => {
    const { head, driven } = await accountHere();
    const { holdFor } = await head();
    const [one, other] = [holdFor('lamp'), holdFor('vase')];
    expect(await one.hold('x', null)).toBe('held');
    expect(await other.hold('y', 1)).toBe('later');
    driven.delete(runOf('lamp').id);
    expect(await other.hold('y', 1)).toBe('later');
    expect(await other.hold('y', 1)).toEqual({
      over: expect.stringContaining('run apply for lamp to find the charge'),
    });
    expect(await holdFor('lamp').hold('x', null)).toBe('held');
    one.charge('x', 9);
    expect(await other.hold('y', 1)).toBe('held');
  });

  test('is of the server’s day and month, and a clock that was set back begins neither anew', async () => {
    const { head, db } = await accountHere();
    const limits = { day: 10, month: 15 };
    const first = await head(limits);
    expect(await first.holdFor('lamp').hold('x', 6)).toBe('held');
    // As if a server that was ahead had written it: the next month has begun.
    await db.query(
      `UPDATE mediabatch.spent SET month = '2999-01', text = regexp_replace(text, '"at":"[^"]*"', '"at":"2999-01-05T12:00:00.000Z"')`,
    );
    const { holdFor, spending } = await head(limits);
    expect(spending.spent()).toMatchObject({ day: 6, month: 6 });
    expect(await holdFor('lamp').hold('y', 5)).toMatchObject({ over: expect.stringContaining('10 credits a day') });
    expect(await holdFor('lamp').hold('y', 4)).toBe('held');
  });

  test('is bounded by the lowest limit of all workers that are not forgotten, also of one that comes later', async () => {
    const { head, tellLimits, db } = await accountHere();
    await tellLimits('long gone', { day: 1 }, '2 hours');
    const { spending, holdFor } = await head({ day: 10 });
    const { hold, charge } = holdFor('lamp');
    expect(await hold('x', 9)).toBe('held');
    await tellLimits('careful', { day: 8, month: 500 });
    await spending.refresh();
    expect(await hold('y', 1)).toMatchObject({ over: expect.stringContaining('8 credits a day') });
    charge('x', 2);
    expect(await hold('y', 6)).toBe('held');
    await db.query('UPDATE mediabatch.account SET spent = $1', [JSON.stringify(spending.spent())]);
    const left = { credits: 8, per: 'day', left: 0, of: 'engine' };
    expect(await readLimit(db, account)).toEqual(left);
    expect([...(await readSpendingLeft(db, ['of nobody', account]))]).toEqual([[account, left]]);
  });

  test('is known of a time without a limit, too', async () => {
    const { head } = await accountHere();
    const { spending, holdFor } = await head({});
    const { hold, charge } = holdFor('lamp');
    for (const name of ['x', 'y']) {
      expect(await hold(name, 50)).toBe('held');
      charge(name, 50);
    }
    await spending.idle();
    const limited = (await head({ month: 110 })).holdFor('lamp');
    expect(await limited.hold('z', 11)).toMatchObject({ over: expect.stringContaining('10 are left') });
    expect(await limited.hold('z', 10)).toBe('held');
  });

  test('I40 a key that an earlier run of the campaign bought is restored, and one that it left open is asked about', async () => {
    const { head } = await accountHere();
    const { spending } = await head();
    const reserve = (purchase: object, asks?: string) =>
      spending.of(runOf('lamp'), lockWith({ fingerprint: 'f', ...purchase })).reserve('key of x', {
        ...{ fingerprint: 'f', asks, isClosed: () => false, isStopped: () => false },
      });
    const records = [expect.objectContaining({ address: 'x' })];
    expect(await reserve({ state: 'done', jobId: 'job-1' })).toEqual({ is: 'known', records });
    expect(await reserve({ state: 'unresolved', send: 'lost' })).toEqual({ is: 'known', records });
    expect(await reserve({ state: 'unresolved', send: 'lost' }, 'lost')).toEqual({ is: 'reserved' });
    expect(await reserve({ state: 'refused', error: 'no' })).toEqual({ is: 'reserved' });
    expect(await reserve({ state: 'done', jobId: 'job-1', fingerprint: 'other' })).toEqual({ is: 'reserved' });
  });
});
