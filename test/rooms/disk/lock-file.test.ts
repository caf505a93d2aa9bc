import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LockChangedError, UnsafeFileError } from '../../../src/contract/errors.ts';
import { openLockFile, readLockBytes } from '../../../src/disk/lock/lock-file.ts';
import { digestOf } from '../../../src/disk/outputs/hash-file.ts';
import { makeFolder } from '../../rig/folder.ts';
import { has, runProgram } from '../../rig/program.ts';
import { forAll } from '../../rig/runs.ts';
import { fixture } from './fixtures.ts';

const header = '{"header":1}\n';

function lockIn(folder: string, content?: string): { path: string; text(): string } {
  const path = join(folder, 'campaign.lock.jsonl');
  if (content !== undefined) writeFileSync(path, content);
  return { path, text: () => readFileSync(path, 'utf8') };
}

/** A lock in a folder of its own that is open until the test ends. */
async function openedLock(content?: string) {
  const lock = lockIn(makeFolder(), content);
  const file = await openLockFile(lock.path, { header });
  onTestFinished(() => file.close());
  return { ...lock, file };
}

describe('appending', () => {
  it('makes the file with its header at the first line, and not before', async () => {
    const { path, text } = lockIn(makeFolder());
    const file = await openLockFile(path, { header: header.trimEnd() });
    expect(existsSync(path)).toBe(false);
    await file.append('{"a":1}\n');
    await file.append('{"b":1}\n');
    await file.close();
    expect(text()).toBe(`${header}{"a":1}\n{"b":1}\n`);
  });

  const batches = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
  forAll([batches], 20)('keeps the order of lines that are appended at the same time', async (sizes) => {
    const { text, file } = await openedLock();
    const lines: string[] = [];
    const work: Promise<void>[] = [];
    for (const size of sizes) {
      for (let index = 0; index < size; index++) {
        lines.push(`{"line":${lines.length}}\n`);
        work.push(file.append(lines.at(-1) ?? ''));
      }
      await work.at(-1);
    }
    await Promise.all(work);
    expect(text()).toBe(header + lines.join(''));
  });

  it('ends a last line that has no LF, and cuts a torn one', async () => {
    const folder = makeFolder();
    const unfinished = lockIn(folder, `${header}{"a":1}`);
    let file = await openLockFile(unfinished.path, { header });
    await file.append('{"b":1}\n');
    await file.close();
    expect(unfinished.text()).toBe(`${header}{"a":1}\n{"b":1}\n`);
    const torn = lockIn(folder, `${header}{"a":1}\n{"ha`);
    file = await openLockFile(torn.path, { header, cutAt: header.length + 8 });
    expect(torn.text()).toBe(`${header}{"a":1}\n`);
    await file.append('{"b":1}\n');
    await file.close();
    expect(torn.text()).toBe(`${header}{"a":1}\n{"b":1}\n`);
  });

  it('refuses what is not one line', async () => {
    const { file } = await openedLock();
    for (const text of ['{"a":1}', '{"a":1}\n{"b":1}\n']) expect(() => file.append(text)).toThrow('internal error');
  });

  it('waits for what is under way when it is closed, and takes nothing after', async () => {
    const { text, file } = await openedLock();
    const appended = file.append('{"a":1}\n');
    await file.close();
    await appended;
    expect(text()).toBe(`${header}{"a":1}\n`);
    await expect(file.append('{"b":1}\n')).rejects.toThrow('closed');
  });
});

describe('replacing', () => {
  it('takes many lines as they come, and knows what was written of a file that is larger than any piece of it', async () => {
    const { path, text } = lockIn(makeFolder());
    const lines = Array.from({ length: 40_000 }, (_, index) => `{"line":${index},"text":"größer 🙂"}\n`);
    let file = await openLockFile(path, { header });
    await file.replace([header, ...lines].values());
    await file.append('{"later":1}\n');
    await file.replace([header, ...lines]);
    await file.close();
    const whole = header + lines.join('');
    expect(text() === whole).toBe(true);
    appendFileSync(path, `{"torn${'x'.repeat(600_000)}`);
    const cutAt = Buffer.byteLength(whole);
    const read = digestOf(readFileSync(path));
    await expect(openLockFile(path, { header, read: digestOf(Buffer.from(whole)) })).rejects.toThrow(LockChangedError);
    file = await openLockFile(path, { header, cutAt, read });
    await file.append('{"later":1}\n');
    await file.close();
    expect(text() === `${whole}{"later":1}\n`).toBe(true);
  });

  const other = `${header}{"b":12}\n`;
  const changes: [string, (path: string) => void][] = [
    ['appended to it', (path) => appendFileSync(path, '{"other":1}\n')],
    ['wrote it again', (path) => writeFileSync(path, other)],
    ['removed it', (path) => rmSync(path)],
    ['put another in its place', (path) => [writeFileSync(`${path}.new`, other), renameSync(`${path}.new`, path)]],
  ];

  it.each(changes)('leaves the file alone when someone else %s', async (_name, change) => {
    const { path, file } = await openedLock(`${header}{"a":1}\n`);
    change(path);
    const before = existsSync(path) && readFileSync(path, 'utf8');
    await expect(file.replace(header)).rejects.toBeInstanceOf(LockChangedError);
    expect(existsSync(path) && readFileSync(path, 'utf8')).toBe(before);
  });

  it.each<[string, (text: string) => string, boolean]>([
    ['nobody touched', (text) => text, true],
    ['whose first bytes were changed', (text) => `#${text.slice(1)}`, false],
    ['whose last bytes were changed', (text) => `${text.slice(0, -3)}#}\n`, false],
    ['that was cut', (text) => text.slice(0, -100_000), false],
    ['to which somebody added', (text) => `${text}{"theirs":1}\n`, false],
  ])('replaces a journal longer than what is read at once, %s: %o', async (_name, change, isKept) => {
    const { path, text, file } = await openedLock();
    const line = `{"line":"${'x'.repeat(9_000)}"}\n`;
    for (let count = 0; count < 70; count += 1) await file.append(line);
    const before = change(text());
    writeFileSync(path, before);
    const replaced = file.replace(`${header}{"all":1}\n`);
    if (isKept) await replaced;
    else await expect(replaced).rejects.toBeInstanceOf(LockChangedError);
    expect(text()).toBe(isKept ? `${header}{"all":1}\n` : before);
  });

  it.each(changes)('appends no more when someone else %s', async (_name, change) => {
    const { path, file } = await openedLock();
    await file.append('{"a":1}\n');
    change(path);
    await expect(file.append('{"b":1}\n')).rejects.toBeInstanceOf(LockChangedError);
    await expect(file.append('{"c":1}\n')).rejects.toBeInstanceOf(LockChangedError);
    await expect(file.replace(header)).rejects.toBeInstanceOf(LockChangedError);
  });
});

describe('opening', () => {
  it('leaves a file alone that is not what the caller read', async () => {
    const { path, text } = lockIn(makeFolder(), `${header}{"a`);
    for (const options of [{ cutAt: header.length + 90 }, { read: digestOf(Buffer.from(header)) }, { read: null }]) {
      await expect(openLockFile(path, { header, ...options })).rejects.toBeInstanceOf(LockChangedError);
    }
    expect(text()).toBe(`${header}{"a`);
    rmSync(path);
    const opening = openLockFile(path, { header, read: digestOf(Buffer.from(header)) });
    await expect(opening).rejects.toBeInstanceOf(LockChangedError);
    const file = await openLockFile(path, { header, read: null });
    await file.close();
  });

  it('refuses links and folders, and reads nothing through them', async () => {
    const folder = makeFolder();
    const secret = join(folder, 'secret');
    const path = join(folder, 'campaign.lock.jsonl');
    writeFileSync(secret, 'x');
    for (const prepare of [
      () => symlinkSync(secret, path),
      () => symlinkSync('nowhere', path),
      () => mkdirSync(path),
    ]) {
      prepare();
      await expect(readLockBytes(path)).rejects.toBeInstanceOf(UnsafeFileError);
      await expect(openLockFile(path, { header })).rejects.toBeInstanceOf(UnsafeFileError);
      rmSync(path, { recursive: true });
    }
    expect(readFileSync(secret, 'utf8')).toBe('x');
    expect(await readLockBytes(path)).toBeUndefined();
  });
});

describe.runIf(has.strace)('with faults of the disk (strace)', () => {
  async function strace(folder: string, injected: string, command: string[]) {
    const log = join(folder, 'trace');
    const path = join(folder, 'campaign.lock.jsonl');
    const options = ['-f', '-qq', '-y', '-o', log, ...(injected === '' ? [] : ['-P', path])];
    const calls = ['-e', 'trace=write,pwrite64,writev,fdatasync,fsync,rename'];
    const inject = injected === '' ? [] : ['-e', `inject=${injected}`];
    // One thread does all file work, so that calls are counted in one row.
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const { out } = await runProgram(['strace', ...options, ...calls, ...inject, ...command], { env });
    return { out, trace: () => readFileSync(log, 'utf8') };
  }

  it('has every line synced before it says so, and groups those that wait', async () => {
    const folder = makeFolder();
    const { path } = lockIn(folder, header);
    const { out, trace } = await strace(folder, '', fixture('append', path, '12', '4'));
    expect(out.match(/durable/g)).toHaveLength(12);
    let synced = true;
    let syncs = 0;
    for (const call of trace().split('\n')) {
      if (call.includes('campaign.lock.jsonl>') && /(write|pwrite64|writev)\(/.test(call)) synced = false;
      if (call.includes('campaign.lock.jsonl>') && call.includes('fdatasync(')) {
        synced = true;
        syncs++;
      }
      if (call.includes('durable')) expect(synced, call).toBe(true);
    }
    expect(syncs).toBe(3);
  });

  it('fails for good after one failed fdatasync, and never asks again', async () => {
    const folder = makeFolder();
    const { path } = lockIn(folder, header);
    const { out, trace } = await strace(folder, 'fdatasync:error=EIO:when=2', fixture('append', path, '4', '1'));
    expect(out).toBe('open\ndurable 1\nfailed 2 EIO\nfailed 3 EIO\nfailed 4 EIO\n');
    expect(trace().match(/fdatasync/g)).toHaveLength(2);
  });

  it('writes nothing after a failed write, and can still be replaced as a whole', async () => {
    const folder = makeFolder();
    const { path, text } = lockIn(folder, header);
    const { out } = await strace(folder, 'write:error=ENOSPC:when=2', fixture('append', path, '3', '1', 'replace'));
    expect(out).toBe('open\ndurable 1\nfailed 2 ENOSPC\nfailed 3 ENOSPC\nreplaced\n');
    expect(text()).toBe(`${header}{"all":1}\n`);
  });

  it('loses no line that it called durable when it is killed at any sync', async () => {
    for (let call = 1; call <= 3; call++) {
      const folder = makeFolder();
      const { path, text } = lockIn(folder, header);
      const { out } = await strace(folder, `fdatasync:signal=KILL:when=${call}`, fixture('append', path, '6', '2'));
      const durable = [...out.matchAll(/durable (\d+)/g)].map(([, number]) => `{"line":${number}}`);
      expect(durable).toHaveLength((call - 1) * 2);
      for (const line of durable) expect(text()).toContain(line);
    }
  });
});

describe.runIf(has.root && has.mounts)('on a disk that is nearly full (tmpfs, root)', () => {
  it('keeps what it called durable, and the old file when there is no room for a new one', async () => {
    const folder = makeFolder();
    const script = [
      `mount -t tmpfs -o size=8k tmpfs "${folder}"`,
      `printf '${header.trimEnd()}\\n' > "${folder}/campaign.lock.jsonl"`,
      `head -c 4096 /dev/zero > "${folder}/ballast"`,
      fixture('append', `${folder}/campaign.lock.jsonl`, '400', '1', 'replace')
        .map((word) => `'${word}'`)
        .join(' '),
      `echo; cat "${folder}/campaign.lock.jsonl"; ls -A "${folder}"`,
    ];
    const { out } = await runProgram(['unshare', '--mount', 'sh', '-ec', script.join('\n')]);
    const [said = '', found = ''] = out.split('\n\n');
    const durable = [...said.matchAll(/durable (\d+)/g)].map(([, number]) => `{"line":${number}}`);
    expect(durable.length).toBeGreaterThan(100);
    expect(said).toContain('failed 400 ENOSPC');
    expect(said).toContain('not replaced ENOSPC');
    for (const line of durable) expect(found).toContain(`${line}\n`);
    expect(found).not.toContain('.tmp');
  });
});
