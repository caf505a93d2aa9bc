import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { identifyThisProcess } from '../../../src/disk/lock/process-identity.ts';
import { openPurchases, readPurchases } from '../../../src/disk/state/purchase-journal.ts';
import { SharedLines } from '../../../src/disk/state/shared-lines.ts';
import { readSpent } from '../../../src/disk/state/spending-files.ts';
import { joinInto, recordOf } from '../../../src/lock/join.ts';
import type { LockLine } from '../../../src/lock/record.ts';
import { emptyLock } from '../../../src/lock/write.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { makePipe } from '../../rig/folder.ts';
import { runProgram } from '../../rig/program.ts';
import { runs } from '../../rig/runs.ts';
import { fixture } from './fixtures.ts';

vi.setConfig({ testTimeout: 60_000 });

const noon = Date.parse('2026-11-26T12:00:00Z');
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
let state = '';
let now = noon;
const clock = { now: () => now, sleep: () => Promise.resolve() };

test('a line that is added after the file was closed goes to no other file', async () => {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const lines = new SharedLines(join(folder, 'lines'));
  await lines.close();
  const other = join(folder, 'other');
  const fd = openSync(other, 'w');
  onTestFinished(() => closeSync(fd));
  await expect(lines.append('late')).rejects.toThrow();
  expect(readFileSync(other, 'utf8')).toBe('');
});

beforeEach(() => {
  const folder = temporaryFolder();
  const before = process.env.XDG_STATE_HOME;
  state = folder.path;
  process.env.XDG_STATE_HOME = state;
  now = noon;
  onTestFinished(() => {
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
    folder.remove();
  });
});

const lines = () => readFileSync(join(state, 'mediabatch', 'spending', '2026-11.jsonl'), 'utf8');

async function ledgerOf(lock: string, limits: { day?: number; month?: number } = { day: 10 }) {
  const ledger = await openPurchases(lock.split('/')[1] ?? '', { clock, spending: { limits, lock } });
  if (ledger === undefined) throw new Error('nothing can be kept');
  onTestFinished(() => ledger.close().catch(() => undefined));
  const hold = (name: string, credits: number | null, { isSent = false, likely = 0, lock = emptyLock() } = {}) =>
    ledger.hold({ key: `key of ${name}`, credits, likely, isSent }, lock);
  const note = (name: string, facts: object) =>
    ledger.add({ address: name, kind: 'image', key: `key of ${name}`, ...facts } as LockLine);
  const charge = (name: string, credits?: number) => note(name, { state: 'running', jobId: name, credits });
  const send = (name: string) => note(name, { state: 'unresolved', send: name });
  const close = (name: string) => note(name, { state: 'unresolved', send: name, closes: [name] });
  return { ledger, hold, charge, send, close, release: (name: string) => ledger.release(`key of ${name}`) };
}

test('keys are reserved where months cannot be written, unless a limit needs them', async () => {
  mkdirSync(join(state, 'mediabatch'), { recursive: true, mode: 0o700 });
  writeFileSync(join(state, 'mediabatch', 'spending'), 'a file');
  const spending = (limits: object) => ({ clock, spending: { limits, lock: '/a/campaign.lock.jsonl' } });
  const journal = await openPurchases('a', spending({}));
  expect(await journal?.hold({ key: 'key', credits: 1, likely: 1, isSent: false })).toBe('held');
  await journal?.close();
  expect(await openPurchases('a', spending({ day: 10 }))).toBeUndefined();
});

async function journalHere() {
  const journal = await openPurchases('a', { clock });
  if (journal === undefined) throw new Error('nothing can be kept');
  onTestFinished(() => journal.close());
  return journal;
}
const step = { address: 'hero', kind: 'image', key: 'k', fingerprint: 'f', generation: 1, attempt: 1 } as const;
const asked = { fingerprint: 'f', asks: undefined, isClosed: () => false, isStopped: () => false };

test('a journal that was shortened while it was open does not count as one without purchases', async () => {
  const journal = await journalHere();
  await journal.add({ ...step, state: 'running', jobId: 'j' });
  expect(await journal.reserve('k', asked)).toMatchObject({ is: 'known' });
  truncateSync(join(state, 'mediabatch', 'purchases', 'a.jsonl'), 40);
  await expect(journal.reserve('k', asked)).rejects.toThrow('shortened');
});

test.each<[string, object, number, string]>([
  ['of this machine is waited for, however old it is', {}, 30, 'stopped'],
  ['of another machine is waited for on its first day', { namespace: 'other' }, 24, 'stopped'],
  ['of another machine is given up when it is older', { namespace: 'other' }, 25, 'reserved'],
])('a reservation %s', async (_name, by, hours, expected) => {
  const journal = await journalHere();
  const holder = { ...(await identifyThisProcess()), ...by };
  const hold = { key: 'k', is: 'hold', id: 'other', at: now - hours * hourMs, by: holder };
  appendFileSync(join(state, 'mediabatch', 'purchases', 'a.jsonl'), `${JSON.stringify(hold)}\n`);
  let looks = 0;
  const isStopped = () => ++looks > 1;
  expect(await journal.reserve('k', { ...asked, isStopped })).toMatchObject({ is: expected });
});

test('a purchase that was sent twice is read again, although its job is known', async () => {
  const journal = await journalHere();
  const counts: number[] = [];
  for (const send of ['s1', 's2']) {
    await journal.add({ ...step, state: 'unresolved', send });
    await journal.add({ ...step, state: 'running', jobId: 'j' });
    counts.push((await readPurchases('a', () => true)).length);
  }
  expect(counts).toEqual([0, 1]);
});

describe('I44 what a person spends in all campaigns', () => {
  test('never passes the limit, held or charged', async () => {
    const one = await ledgerOf('/a/campaign.lock.jsonl');
    const other = await ledgerOf('/b/campaign.lock.jsonl');
    expect(await one.hold('x', 6)).toBe('held');
    expect(await other.hold('x', 5)).toEqual({
      over: 'the limit is 10 credits a day (MEDIABATCH_LIMIT), and 4 are left',
    });
    expect(await other.hold('y', 4)).toBe('held');
    one.release('x');
    await one.ledger.close();
    expect(await other.hold('z', 6)).toBe('held');
    await other.charge('y', 7);
    await other.ledger.close();
    expect(await readSpent(now)).toEqual({ day: 13, month: 13 });
  });

  test('is held by whoever was killed, and once for one create', async () => {
    const killed = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await killed.hold('x', 8)).toBe('held');
    const next = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await next.hold('y', 3)).toMatchObject({ over: expect.stringContaining('2 are left') });
    expect(await next.hold('x', 8)).toBe('held');
    await next.charge('x', 3);
    expect(await next.hold('y', 7)).toBe('held');
  });

  test('counts what had left before, and holds that back by nothing', async () => {
    const one = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await one.hold('x', 9)).toBe('held');
    expect(await one.hold('asked', 9, { isSent: true })).toBe('held');
    expect(await readSpent(now)).toMatchObject({ day: 18 });
    // Neither a job without a charge nor a lower price lowers what is counted.
    await one.charge('x');
    expect(await one.hold('x', 2, { isSent: true })).toBe('held');
    await one.ledger.close();
    expect(await readSpent(now)).toMatchObject({ day: 18 });
  });

  test('a price that is found out goes alone, among all processes', async () => {
    const one = await ledgerOf('/a/campaign.lock.jsonl');
    const other = await ledgerOf('/b/campaign.lock.jsonl');
    expect(await one.hold('x', null)).toBe('held');
    expect(await other.hold('y', 1)).toBe('later');
    const before = lines();
    expect(await other.hold('y', null)).toBe('later');
    expect(lines()).toBe(before);
    await one.charge('x', 9);
    await one.ledger.close();
    expect(await other.hold('y', 2)).toMatchObject({ over: expect.stringContaining('1 are left') });
    expect(await other.hold('y', null)).toBe('held');
    await other.send('y');
    other.release('y');
    await other.ledger.close();
    const third = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await third.hold('z', 0)).toMatchObject({ over: expect.stringContaining('/b/campaign.lock.jsonl') });
    const again = await ledgerOf('/b/campaign.lock.jsonl');
    expect(await again.hold('y', null)).toBe('held');
    await again.charge('y', 1);
    await again.ledger.close();
    expect(await third.hold('z', 0)).toBe('held');
  });

  test.each<[string, number, number]>([
    ['all that is left', 0, 10],
    ['its estimate', 3, 9],
  ])('a job of unknown price without a reported charge counts as %s', async (_name, likely, spent) => {
    const one = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await one.hold('w', 6)).toBe('held');
    expect(await one.hold('x', null, { likely })).toBe('held');
    expect((await readSpent(now)).day).toBe(6 + Math.max(1, likely));
    await one.charge('x');
    expect(await one.hold('y', 11 - spent)).toMatchObject({ over: expect.stringContaining(`${10 - spent} are left`) });
    expect(await readSpent(now)).toEqual({ day: spent, month: spent });
  });

  test('a job that a killed run recorded ends its hold when a run collects it', async () => {
    const killed = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await killed.hold('x', null)).toBe('held');
    await killed.send('x');
    killed.release('x');
    const other = await ledgerOf('/b/campaign.lock.jsonl');
    expect(await other.hold('y', 1)).toMatchObject({ over: expect.stringContaining('/a/campaign.lock.jsonl') });
    const next = await ledgerOf('/a/campaign.lock.jsonl');
    await next.charge('x', 3);
    await next.charge('x', 3);
    expect(await other.hold('y', 7)).toBe('held');
    expect(await readSpent(now)).toEqual({ day: 10, month: 10 });
  });

  /** The price probe of a run that was killed: its process is not there any more. */
  async function leaveProbe(name: string): Promise<void> {
    const killed = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await killed.hold(name, null)).toBe('held');
    await killed.ledger.close();
    const path = join(state, 'mediabatch', 'spending', '2026-11.jsonl');
    writeFileSync(
      path,
      lines()
        .replaceAll(`"pid":${process.pid},`, '"pid":999999999,')
        .replaceAll(/.*"isUnsent".*/g, ''),
    );
  }

  test('the probe of a killed run is settled by the job in the lock', async () => {
    await leaveProbe('x');
    const lock = emptyLock();
    joinInto(lock.steps, recordOf({ ...step, key: 'key of x', state: 'running', jobId: 'j', credits: 4, request: {} }));
    const other = await ledgerOf('/b/campaign.lock.jsonl');
    expect(await other.hold('y', 7, { lock })).toBe('later');
    expect(await other.hold('y', 7, { lock })).toMatchObject({
      over: expect.stringContaining('/a/campaign.lock.jsonl'),
    });
    const next = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await next.hold('y', 7, { lock })).toBe('later');
    expect(await next.hold('y', 7, { lock })).toMatchObject({ over: expect.stringContaining('6 are left') });
    expect(await next.hold('y', 6, { lock })).toBe('held');
  });

  test('the probe of a killed run is waited for while a run of its campaign recovers the answer', async () => {
    await leaveProbe('x');
    const next = await ledgerOf('/a/campaign.lock.jsonl');
    await next.ledger.reserve('key of x', { ...asked, asks: 'a send' });
    for (let look = 0; look < 3; look += 1) expect(await next.hold('y', 7)).toBe('later');
    expect(await next.hold('x', null, { isSent: true })).toBe('held');
    await next.charge('x', 3);
    expect(await next.hold('y', 7)).toBe('held');
  });

  test('a decision that a lost create request made no job ends its reservation, but not the charge of a job', async () => {
    const killed = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await killed.hold('x', 8)).toBe('held');
    await killed.send('x');
    const decided = await ledgerOf('/a/campaign.lock.jsonl', {});
    await decided.close('x');
    await decided.ledger.close();
    expect(await readSpent(now)).toEqual({ day: 0, month: 0 });
    expect(await killed.hold('y', 8)).toBe('held');
    const again = await ledgerOf('/a/campaign.lock.jsonl', {});
    await again.charge('y', 7);
    await again.close('y');
    await again.ledger.close();
    expect(await readSpent(now)).toEqual({ day: 7, month: 7 });
  });

  test('is of a day and a month of UTC, and a clock that is set back begins neither anew', async () => {
    const limits = { day: 10, month: 15 };
    const one = await ledgerOf('/a/campaign.lock.jsonl', limits);
    expect(await one.hold('x', 10)).toBe('held');
    now = noon + dayMs;
    expect(await readSpent(now)).toEqual({ day: 0, month: 10 });
    expect(await one.hold('y', 6)).toMatchObject({ over: expect.stringContaining('15 credits a month') });
    expect(await one.hold('y', 5)).toBe('held');
    now = noon - 40 * dayMs;
    expect(await readSpent(now)).toEqual({ day: 5, month: 15 });
    expect(await one.hold('z', 1)).toMatchObject({ over: expect.any(String) });
    now = noon + 10 * dayMs;
    expect(await one.hold('z', 10)).toBe('held');
    now = noon;
    expect(await readSpent(now)).toEqual({ day: 10, month: 10 });
  });

  test('what is charged in another month than it was held counts there, as far as it is above the hold', async () => {
    now = Date.parse('2026-11-30T23:59:59Z');
    const one = await ledgerOf('/a/campaign.lock.jsonl', { month: 10 });
    for (const [name, credits] of [
      ['x', null],
      ['y', 4],
      ['z', 3],
    ] as const) {
      expect(await one.hold(name, credits, { isSent: true })).toBe('held');
    }
    now += 2000;
    await one.charge('x', 8);
    await one.charge('y', 2);
    one.release('z');
    expect(await one.hold('v', 4)).toEqual({
      over: 'the limit is 10 credits a month (MEDIABATCH_LIMIT), and 3 are left',
    });
    expect(await readSpent(now)).toEqual({ day: 7, month: 7 });
  });

  test('what is charged on another day than it was held counts for its month alone', async () => {
    const one = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await one.hold('x', 8)).toBe('held');
    now = noon + dayMs;
    expect(await one.hold('y', 4)).toBe('held');
    await one.charge('x', 3);
    expect(await readSpent(now)).toEqual({ day: 4, month: 7 });
  });

  test('what a crash cut off, and lines of nobody, count for nothing, and harm none', async () => {
    const one = await ledgerOf('/a/campaign.lock.jsonl');
    expect(await one.hold('x', 6)).toBe('held');
    const folder = join(state, 'mediabatch', 'spending');
    const [name = ''] = readdirSync(folder);
    appendFileSync(join(folder, name), '\n{"at":"2026-11-26T12:00:00.000Z","hold":"k","li');
    expect(await one.hold('y', 5)).toMatchObject({ over: expect.any(String) });
    appendFileSync(
      join(folder, name),
      '\n{"at":"2026-11-26T12:00:00.000Z","charged":"key of x","campaign":"?","credits":-6}\n[]\n',
    );
    expect(await one.hold('y', 5)).toMatchObject({ over: expect.any(String) });
    expect(await one.hold('y', 4)).toBe('held');
    expect(readFileSync(join(folder, name), 'utf8')).toContain('"hold":"key of y"');
  });

  test.each<[string, (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a link', (path) => symlinkSync('elsewhere', path)],
    ['a pipe', makePipe],
  ])('%s in the place of a month is told by its name, and holds nobody up', async (_name, make) => {
    const one = await ledgerOf('/a/campaign.lock.jsonl');
    make(join(state, 'mediabatch', 'spending', '2026-11.jsonl'));
    const refused = { name: 'UnsafeFileError' };
    await expect(one.hold('x', 1)).rejects.toMatchObject(refused);
    await expect(readSpent(now)).rejects.toMatchObject(refused);
  });

  const spend = async (words: string[], env: Record<string, string>) => {
    const { out, err } = await runProgram(fixture('spend', ...words), {
      env: { ...process.env, XDG_STATE_HOME: state, ...env },
    });
    expect(err).toBe('');
    return out.split('\n').filter(Boolean).map(Number);
  };

  test.each(['known', 'unknown'])(
    'many processes at once, some killed: never more, nothing left over (%s price)',
    async (price) => {
      const spent = Array.from({ length: Math.min(12, runs(12)) }, (_, index) =>
        spend([`/${index}/campaign.lock.jsonl`, '20', '3', '100', price], {
          ...(index % 3 === 0 && { DIE_AT: String(1 + (index % 4)) }),
          CLOCK_MS: String(index % 2 === 0 ? 0 : -3_600_000 * index),
        }),
      );
      const charged = (await Promise.all(spent)).flat().reduce((sum, credits) => sum + credits, 0);
      expect(charged).toBeLessThanOrEqual(price === 'known' ? 100 : 100 + 3);
      if (price === 'known') expect(charged).toBeGreaterThan(96);
    },
  );
});
