import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { renameFile, unlinkFile } from '../../../src/disk/fs/durable.ts';
import { hasNoLinks, isSameName } from '../../../src/disk/fs/plain-file.ts';
import { openLockFile } from '../../../src/disk/lock/lock-file.ts';
import { shellWord } from '../../../src/report/shell-word.ts';
import { temporaryFolder } from '../../rig/command.ts';

function folder(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  return path;
}

test('one path in two ways, where capitals and the form of accents make no difference', () => {
  for (const platform of ['win32', 'darwin'] as const) {
    expect(isSameName('C:\\Shop\\Images', 'c:\\shop\\images', platform)).toBe(true);
    expect(isSameName('/a/é', '/a/e\u0301', platform)).toBe(true);
    expect(isSameName('/a/b', '/a/c', platform)).toBe(false);
    expect(isSameName(undefined, '/a', platform)).toBe(false);
  }
  expect(isSameName('/a/B', '/a/b', 'linux')).toBe(false);
});

test.each([
  ['hero@lamp', 'hero@lamp'],
  ['C:\\shop\\campaign.yaml', 'C:\\shop\\campaign.yaml'],
  // PowerShell makes two words of it.
  ['hero@lamp,9:16', '"hero@lamp,9:16"'],
  ['@lamp', '"@lamp"'],
  ['my file.yaml', '"my file.yaml"'],
  ["it's", `"it's"`],
  ['a & del *', '"a & del *"'],
  ['$(rm) `x` "y"', `'$(rm) \`x\` "y"'`],
  ["$a's", "'$a''s'"],
  ['C:\\my folder\\', "'C:\\my folder\\'"],
  ['', '""'],
  ['a\nb\u001b', 'a\\nb\\x1b'],
])('a word of PowerShell and cmd: %j is %s', (text, word) => {
  expect(shellWord(text, 'win32')).toBe(word);
});

test('a file system without hard links, as exFAT on Windows says it', () => {
  const error = (code: string) => Object.assign(new Error(code), { code });
  const codes = ['EISDIR', 'EPERM', 'ENOTSUP', 'EXDEV', 'EMLINK', 'EACCES', 'ENOSYS', 'EOPNOTSUPP'];
  expect(codes.filter((code) => !hasNoLinks(error(code)))).toEqual([]);
  expect(hasNoLinks(error('EEXIST'))).toBe(false);
});

describe('another program holds a file for a moment', () => {
  test('what is absent is said at once, and not tried again', async () => {
    const path = join(folder(), 'gone');
    await expect(unlinkFile(path, 'win32')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(renameFile(path, `${path}2`, 'win32')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a lock where nobody replaces a file that is open', () => {
  const header = '{"mediabatch":"lock","version":2}';

  test('is closed, replaced, and goes on with what it is now', async () => {
    const path = join(folder(), 'campaign.lock.jsonl');
    const lock = await openLockFile(path, { header, platform: 'win32' });
    await lock.append('one\n');
    await lock.append('two\n');
    await lock.replace([`${header}\n`, 'both\n']);
    await lock.append('three\n');
    await lock.close();
    expect(readFileSync(path, 'utf8')).toBe(`${header}\nboth\nthree\n`);
  });

  test('that cannot be replaced is as it was, and takes what is paid next', async () => {
    const path = join(folder(), 'campaign.lock.jsonl');
    const lock = await openLockFile(path, { header, platform: 'win32' });
    await lock.append('one\n');
    const full = function* () {
      yield 'both\n';
      throw new Error('ENOSPC');
    };
    await expect(lock.replace(full())).rejects.toThrow('ENOSPC');
    await lock.append('two\n');
    await lock.close();
    expect(readFileSync(path, 'utf8')).toBe(`${header}\none\ntwo\n`);
  });
});
