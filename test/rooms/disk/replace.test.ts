import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UnsafeFileError } from '../../../src/contract/errors.ts';
import { replaceFile } from '../../../src/disk/fs/replace.ts';
import { fixture } from './fixtures.ts';
import { makeFolder } from './folder.ts';
import { has, run } from './tools.ts';

describe('replacing a file', () => {
  it('makes it, replaces it, keeps its permissions and leaves nothing else', async () => {
    const folder = makeFolder();
    const path = join(folder, 'file');
    await replaceFile(path, 'one');
    chmodSync(path, 0o600);
    await replaceFile(path, new Uint8Array([0xff, 0x00]));
    expect([...readFileSync(path)]).toEqual([0xff, 0x00]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('refuses links and folders', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'target'), 'x');
    symlinkSync('target', join(folder, 'link'));
    mkdirSync(join(folder, 'folder'));
    for (const name of ['link', 'folder']) {
      await expect(replaceFile(join(folder, name), 'y')).rejects.toBeInstanceOf(UnsafeFileError);
    }
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('x');
    expect(readdirSync(folder).sort()).toEqual(['folder', 'link', 'target']);
  });

  it('shows a reader all of the old or all of the new text', async () => {
    const path = join(makeFolder(), 'file');
    const texts = Array.from({ length: 30 }, (_, index) => `${index} `.repeat(20_000));
    await replaceFile(path, texts[0] ?? '');
    let isDone = false;
    const seen = new Set<string>();
    const looking = (async () => {
      while (!isDone) {
        seen.add(readFileSync(path, 'utf8'));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (const text of texts) await replaceFile(path, text);
    isDone = true;
    await looking;
    for (const text of seen) expect(texts).toContain(text);
  });
});

describe.runIf(has.strace)('with faults (strace)', () => {
  const faults = ['fsync:error=EIO:when=1', 'rename:error=EACCES'];

  it.each(faults)('keeps the old file and no temporary one after %s', async (fault) => {
    const folder = makeFolder();
    const path = join(folder, 'campaign.lock.jsonl');
    writeFileSync(path, '{"header":1}\n');
    const command = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `inject=${fault}`];
    const { out } = await run([...command, ...fixture('append', path, '0', '1', 'replace')]);
    expect(out).toContain('not replaced E');
    expect(readFileSync(path, 'utf8')).toBe('{"header":1}\n');
    expect(readdirSync(folder)).toEqual(['campaign.lock.jsonl']);
  });

  it('syncs the file before it is renamed, and the folder after', async () => {
    const folder = makeFolder();
    const path = join(folder, 'campaign.lock.jsonl');
    const log = join(makeFolder(), 'trace');
    const command = ['strace', '-f', '-qq', '-y', '-o', log, '-e', 'trace=fsync,rename'];
    await run([...command, ...fixture('append', path, '0', '1', 'replace')], { UV_THREADPOOL_SIZE: '1' });
    const calls = readFileSync(log, 'utf8')
      .split('\n')
      // What was written last is noted in `.mediabatch/`, for later: only the lock itself counts here.
      .filter((call) => call.includes(folder) && !/\.mediabatch[/>]/.test(call))
      .map((call) => (call.includes('rename(') ? 'rename' : call.includes('.tmp>') ? 'sync file' : 'sync folder'));
    expect(calls).toEqual(['sync file', 'rename', 'sync folder']);
  });
});
