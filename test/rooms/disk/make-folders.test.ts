import { existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolders } from '../../../src/disk/fs/folders.ts';
import { makeFolder } from './folder.ts';

test('makes what is missing, with its rights, and takes what is there, also behind a link', async () => {
  const here = makeFolder();
  await makeFolders(join(here, 'a/b/c'), 0o700);
  if (process.platform !== 'win32') expect(statSync(join(here, 'a/b')).mode & 0o777).toBe(0o700);
  await makeFolders(join(here, 'a/b/c'));
  await makeFolders('/');
  mkdirSync(join(here, 'real'));
  symlinkSync(join(here, 'real'), join(here, 'link'), 'junction');
  await makeFolders(join(here, 'link/new'));
  expect(existsSync(join(here, 'real/new'))).toBe(true);
});

test.runIf(existsSync('/proc/self'))('ends where nothing can be made', async () => {
  await expect(makeFolders('/proc/none')).rejects.toThrow('ENOENT');
  await expect(makeFolders('/proc/none/below')).rejects.toThrow('ENOENT');
});
