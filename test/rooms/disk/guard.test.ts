import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { UnsafeFileError } from '../../../src/contract/errors.ts';
import { type GuardAnswer, readGuardHolder, removeGuard, takeGuard } from '../../../src/disk/lock/guard.ts';
import { makeFolder } from '../../rig/folder.ts';
import { has, runProgram, startProgram } from '../../rig/program.ts';
import { fixture } from './fixtures.ts';

/** A clock that goes on only while someone waits, from any time of day. */
function makeClock(startMs = 0): { now(): number; sleep(ms: number): Promise<void>; slept: number } {
  return {
    slept: 0,
    now: () => startMs,
    async sleep(ms) {
      this.slept += ms;
    },
  };
}

function take(lockPath: string, waitMs = 0, clock = makeClock()): Promise<GuardAnswer> {
  return takeGuard(lockPath, { waitMs, clock });
}

function pathsIn(folder: string): { lock: string; guard: string } {
  return { lock: join(folder, 'campaign.lock.jsonl'), guard: join(folder, '.mediabatch', 'campaign.lock.jsonl.guard') };
}

/** A process that holds a lock until its stdin gets a line. It goes with the test, which may fail while it is stopped. */
async function startHolder(command: string[]) {
  const holder = startProgram(command, { stdin: 'pipe' });
  onTestFinished(() => void holder.child.kill('SIGKILL'));
  return Object.assign(holder, { said: await holder.saw('taken') });
}

/** The guard of a process that was killed while it held a lock. One process stands for all tests. */
let dead: Promise<{ pid: number; text: string }> | undefined;

async function killHolder(): Promise<{ pid: number; text: string }> {
  const { lock, guard } = pathsIn(makeFolder());
  const holder = await startHolder(fixture('hold', lock));
  holder.child.kill('SIGKILL');
  await holder.ended;
  return { pid: holder.pid, text: readFileSync(guard, 'utf8') };
}

/** Puts the guard of a dead process, with changed fields, next to a lock. Resolves with its PID. */
async function leaveDeadGuard(lock: string, changed: object = {}): Promise<number> {
  dead ??= killHolder();
  const { pid, text } = await dead;
  const { guard } = pathsIn(dirname(lock));
  mkdirSync(dirname(guard));
  writeFileSync(guard, JSON.stringify({ ...JSON.parse(text), ...changed }));
  return pid;
}

const isOwnDisk =
  has.linux &&
  readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]' &&
  existsSync('/etc/machine-id') &&
  [0xef53, 0x58465342, 0x9123683e].includes(statfsSync(tmpdir()).type);

describe('the guard', () => {
  it('is had by one at a time', async () => {
    const { lock, guard } = pathsIn(makeFolder());
    const first = await take(lock);
    if (first.is !== 'taken') throw new Error('held');
    expect(first.tookOver).toBeUndefined();
    expect(await first.guard.isStillHeld()).toBe(true);
    expect(await take(lock, 0, makeClock())).toEqual({
      is: 'held',
      by: { host: hostname(), pid: process.pid, since: '1970-01-01T00:00:00.000Z', id: first.guard.id },
    });
    expect(await readGuardHolder(lock)).toMatchObject({ id: first.guard.id });
    await first.guard.release();
    expect(existsSync(guard)).toBe(false);
    expect(await readGuardHolder(lock)).toBeUndefined();
    expect(await take(lock)).toMatchObject({ is: 'taken' });
  });

  it('keeps its folder out of git and leaves nothing else there', async () => {
    const folder = makeFolder();
    const { lock } = pathsIn(folder);
    const answer = await take(lock);
    expect(readdirSync(join(folder, '.mediabatch')).sort()).toEqual(['.gitignore', 'campaign.lock.jsonl.guard']);
    expect(readFileSync(join(folder, '.mediabatch', '.gitignore'), 'utf8')).toBe('*\n');
    if (answer.is === 'taken') await answer.guard.release();
    expect(readdirSync(join(folder, '.mediabatch'))).toEqual(['.gitignore']);
  });

  it('is waited for as long as was asked, in waits and not by the clock', async () => {
    const { lock } = pathsIn(makeFolder());
    await take(lock);
    for (const startMs of [0, Date.UTC(2099, 0, 1)]) {
      const clock = makeClock(startMs);
      expect(await take(lock, 1000, clock)).toMatchObject({ is: 'held' });
      expect(clock.slept).toBe(1000);
    }
  });

  it('is had by the one that waits when the holder lets go', async () => {
    const { lock } = pathsIn(makeFolder());
    const first = await take(lock);
    const clock = makeClock();
    const sleep = clock.sleep;
    clock.sleep = async (ms) => {
      if (first.is === 'taken') await first.guard.release();
      await sleep.call(clock, ms);
    };
    expect(await take(lock, 1000, clock)).toMatchObject({ is: 'taken' });
    expect(clock.slept).toBeLessThan(1000);
  });

  it('is removed by hand only under its id', async () => {
    const { lock, guard } = pathsIn(makeFolder());
    expect(await removeGuard(lock, 'x')).toBe('absent');
    const answer = await take(lock);
    if (answer.is !== 'taken') throw new Error('held');
    expect(await removeGuard(lock, '0123456789abcdef')).toBe('other');
    expect(existsSync(guard)).toBe(true);
    expect(await removeGuard(lock, answer.guard.id)).toBe('removed');
    expect(await answer.guard.isStillHeld()).toBe(false);
    expect(existsSync(guard)).toBe(false);
    await take(lock);
    await answer.guard.release();
    expect(existsSync(guard)).toBe(true);
  });
});

describe('a guard that is not ours to judge', () => {
  it.each<[string, (guard: string) => void]>([
    ['empty', (guard) => writeFileSync(guard, '')],
    ['a symbolic link', (guard) => symlinkSync('elsewhere', guard)],
  ])('is held when it is %s, and the answer says what to do', async (_what, put) => {
    const { lock, guard } = pathsIn(makeFolder());
    mkdirSync(dirname(guard));
    put(guard);
    expect(await take(lock)).toMatchObject({ is: 'held', note: expect.stringContaining('remove the guard file') });
    expect(readdirSync(dirname(guard))).not.toContain('elsewhere');
  });

  it('is refused when its folder is a symbolic link', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, '.mediabatch'));
    await expect(take(pathsIn(folder).lock)).rejects.toBeInstanceOf(UnsafeFileError);
    expect(readdirSync(join(folder, 'real'))).toEqual([]);
  });
});

describe.runIf(has.linux)('a holder that is gone (Linux)', () => {
  it('is taken over, and named', async () => {
    const { lock, guard } = pathsIn(makeFolder());
    const pid = await leaveDeadGuard(lock);
    const answer = await take(lock);
    expect(answer).toMatchObject({ is: 'taken', tookOver: { pid, host: hostname() } });
    expect(readdirSync(dirname(guard)).sort()).toEqual(['.gitignore', 'campaign.lock.jsonl.guard']);
    expect(await take(lock)).toMatchObject({ is: 'held', by: { pid: process.pid } });
  });

  it('is gone, too, when its pid belongs to another process now', async () => {
    const { lock } = pathsIn(makeFolder());
    await leaveDeadGuard(lock, { pid: process.pid });
    expect(await take(lock)).toMatchObject({ is: 'taken', tookOver: { pid: process.pid } });
  });

  it.each([
    ['another pid namespace', { namespace: 'pid:[4026532999]' }],
    ['another boot, with another disk or machine', { boot: 'other', machine: 'other' }],
    ['an unknown boot', { boot: undefined }],
    ['another boot, in a container', { boot: 'other', namespace: 'pid:[4026532999]' }],
  ])('is not known to be gone in %s', async (_name, facts) => {
    const { lock } = pathsIn(makeFolder());
    const pid = await leaveDeadGuard(lock, facts);
    expect(await take(lock)).toMatchObject({ is: 'held', by: { pid } });
  });

  it.runIf(isOwnDisk)('is gone when this very machine was started anew since (own disk, no container)', async () => {
    const { lock } = pathsIn(makeFolder());
    const pid = await leaveDeadGuard(lock, { boot: 'the one before' });
    expect(await take(lock)).toMatchObject({ is: 'taken', tookOver: { pid } });
  });

  it('is taken over by one of many', async () => {
    const { lock } = pathsIn(makeFolder());
    await leaveDeadGuard(lock);
    const contenders = Array.from({ length: 4 }, () => startProgram(fixture('hold', lock), { stdin: 'pipe' }));
    const first = await Promise.all(contenders.map((one) => Promise.race([one.saw('taken'), one.saw('held')])));
    expect(first.filter((text) => text.startsWith('taken'))).toHaveLength(1);
    contenders[first.findIndex((text) => text.startsWith('taken'))]?.child.stdin?.write('go\n');
    const ends = await Promise.all(contenders.map(({ ended }) => ended));
    expect(ends.filter(({ out }) => out.includes('ours'))).toHaveLength(1);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  });

  it('is taken over after any number of runs that died in the act, under names that do not grow', async () => {
    const { lock, guard } = pathsIn(makeFolder());
    await leaveDeadGuard(lock);
    const first = JSON.parse(readFileSync(guard, 'utf8'));
    let dead = first;
    for (let run = 0; run < 20; run++) {
      const next = { ...first, id: `fedcba98765432${(run + 16).toString(16)}` };
      writeFileSync(`${guard}.stale.${dead.id}`, JSON.stringify(next));
      dead = next;
    }
    expect(await take(lock)).toMatchObject({ is: 'taken', tookOver: { id: first.id } });
    expect(readdirSync(dirname(guard)).filter((name) => name.includes('stale'))).toEqual([]);
  });

  it('is waited for when another one is taking over', async () => {
    const { lock, guard } = pathsIn(makeFolder());
    await leaveDeadGuard(lock);
    const first = JSON.parse(readFileSync(guard, 'utf8'));
    const other = pathsIn(makeFolder());
    await take(other.lock);
    writeFileSync(`${guard}.stale.${first.id}`, readFileSync(other.guard));
    expect(await take(lock)).toMatchObject({ is: 'held', by: { pid: process.pid } });
    expect(JSON.parse(readFileSync(guard, 'utf8'))).toEqual(first);
    rmSync(`${guard}.stale.${first.id}`);
    expect(await take(lock)).toMatchObject({ is: 'taken' });
  });
});

describe.runIf(has.linux)('a holder that lives (Linux)', () => {
  it('keeps its guard while it is stopped', async () => {
    const { lock } = pathsIn(makeFolder());
    const holder = await startHolder(fixture('hold', lock));
    holder.child.kill('SIGSTOP');
    expect(await take(lock, 60_000)).toMatchObject({ is: 'held', by: { pid: holder.pid } });
    holder.child.kill('SIGCONT');
    holder.child.stdin?.write('go\n');
    expect((await holder.ended).out).toContain('ours');
    expect(await take(lock)).toMatchObject({ is: 'taken' });
  });

  it.runIf(has.root && has.mounts)('is not judged from another pid namespace (root)', async () => {
    const { lock } = pathsIn(makeFolder());
    const holder = await startHolder(fixture('hold', lock));
    const inside = await runProgram(['unshare', '--pid', '--fork', ...fixture('hold', lock)]);
    expect(inside.out).toBe(`held ${holder.pid}\n`);
    holder.child.kill('SIGKILL');
    await holder.ended;
    const later = await runProgram(['unshare', '--pid', '--fork', ...fixture('hold', lock)]);
    expect(later.out).toBe(`held ${holder.pid}\n`);
  });

  it.runIf(has.root && has.mounts)('is not judged when /proc shows another namespace (root)', async () => {
    const { lock, guard } = pathsIn(makeFolder());
    const inside = await startHolder(['unshare', '--pid', '--fork', ...fixture('hold', lock)]);
    expect(JSON.parse(readFileSync(guard, 'utf8'))).not.toHaveProperty('started');
    expect(inside.said).toContain('fresh');
    expect(await take(lock)).toMatchObject({ is: 'held' });
    inside.child.stdin?.write('go\n');
    await inside.ended;
  });
});

const note = { id: '0123456789abcdef', host: 'here', pid: 7, since: '2026-11-22T12:00:00Z' };
const text = (fields: object) => JSON.stringify({ mediabatch: 'guard', version: 1, ...note, ...fields });

/** Who holds the lock whose guard is this text. */
function holderIn(content: string) {
  const { lock, guard } = pathsIn(makeFolder());
  mkdirSync(dirname(guard));
  writeFileSync(guard, content);
  return readGuardHolder(lock);
}

test('names its holder', async () => {
  expect(await holderIn(text({}))).toEqual(note);
});

test.each([
  text({ boot: 1 }),
  text({ namespace: {} }),
  'no JSON',
  'null',
  '7',
  '[]',
  text({ mediabatch: 'lock' }),
  text({ version: 2 }),
  text({ id: undefined }),
  text({ id: '0123456789abcde' }),
  text({ id: '0123456789abcdeg' }),
  text({ id: '0123456789abcdef0' }),
  text({ id: '../456789abcdef0' }),
  text({ host: 1 }),
  text({ since: 1 }),
  text({ pid: 0 }),
  text({ pid: -1 }),
  text({ pid: 1.5 }),
  text({ pid: '7' }),
])('no guard of ours: %s', async (other) => {
  expect(await holderIn(other)).toBeUndefined();
});
