import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findBadPlaces } from '../../../src/disk/outputs/check-places.ts';
import { makeFolder } from './folder.ts';

function saves(...paths: string[]) {
  return paths.map((save, index) => ({ address: `s${index + 1}`, save }));
}

const look = (root: string, paths: string[], ownRoot = false) => findBadPlaces(root, saves(...paths), { ownRoot });

test('folders that are there, and those that are not yet, are good places', async () => {
  const root = makeFolder();
  mkdirSync(join(root, 'out'));
  writeFileSync(join(root, 'out', 'a.png'), '');
  expect(await look(root, ['out/a', 'out/b', 'new/deep/c', 'top'], true)).toEqual([]);
  expect(await look(join(root, 'none'), ['a'], true)).toEqual([]);
});

test('a link on the way, a file where a folder is needed: told once for each folder', async () => {
  const root = makeFolder();
  mkdirSync(join(root, 'out'));
  symlinkSync('out', join(root, 'link'));
  writeFileSync(join(root, 'file'), '');
  writeFileSync(join(root, 'out', 'file'), '');
  expect(await look(root, ['link/a', 'link/b', 'link/deep/c', 'file/d', 'out/file/e'])).toEqual([
    { address: 's1', path: 'link', why: 'symlink' },
    { address: 's3', path: 'link', why: 'symlink' },
    { address: 's4', path: 'file', why: 'not-a-folder' },
    { address: 's5', path: 'out/file', why: 'not-a-folder' },
  ]);
});

test('a link or a folder under the name that an output may get', async () => {
  const root = makeFolder();
  mkdirSync(join(root, 'out', 'b.mp3'), { recursive: true });
  symlinkSync('elsewhere', join(root, 'out', 'a.png'));
  symlinkSync('elsewhere', join(root, 'out', 'c.txt'));
  expect(await look(root, ['out/a', 'out/b', 'out/c', 'out/d'])).toEqual([
    { address: 's1', path: 'out/a.png', why: 'symlink' },
    { address: 's2', path: 'out/b.mp3', why: 'not-a-file' },
  ]);
});

test('a folder of outputs that is a link: only where it is ours', async () => {
  const root = makeFolder();
  mkdirSync(join(root, 'real'));
  symlinkSync('real', join(root, 'own'));
  expect(await look(join(root, 'own'), ['a', 'b'], true)).toEqual([{ address: 's1', path: '.', why: 'symlink' }]);
  expect(await look(join(root, 'own'), ['a', 'b'], false)).toEqual([]);
});

test.runIf(process.getuid?.() !== 0)('a folder that cannot be written to', async () => {
  const root = makeFolder();
  mkdirSync(join(root, 'out'));
  chmodSync(join(root, 'out'), 0o500);
  expect(await look(root, ['out/a', 'out/new/b'])).toEqual([
    { address: 's1', path: 'out', why: 'not-writable' },
    { address: 's2', path: 'out/new', why: 'not-writable' },
  ]);
});
