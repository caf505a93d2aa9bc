import { mkdirSync, mkdtempSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { OutputFolders } from '../../../src/disk/outputs/output-path.ts';

test('a link in the place of a removed folder is not taken for it, though it can get its inode', async () => {
  // Not in memory: file systems on disks give a freed inode away at once.
  const root = mkdtempSync('/var/tmp/mediabatch-');
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'elsewhere'));
  const folders = new OutputFolders(join(root, 'out'));
  const folder = await folders.prepare('a/b.png');
  expect(await folders.prepare('a/c.png')).toBe(folder);
  rmdirSync(folder);
  symlinkSync(join(root, 'elsewhere'), folder);
  expect(folders.isSame('a/b.png', folder)).toBe(false);
  await expect(folders.prepare('a/b.png')).rejects.toThrow('is a symbolic link');
});
