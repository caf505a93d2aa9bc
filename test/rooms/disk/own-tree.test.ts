import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { findOddFile } from '../../../src/disk/fs/folders.ts';
import { findWayOut } from '../../../src/disk/fs/own-tree.ts';
import { makeFolder } from './folder.ts';
import { run } from './tools.ts';

let outside: string;
let tree: string;
beforeEach(() => {
  outside = realpathSync(makeFolder());
  tree = realpathSync(makeFolder());
  mkdirSync(join(tree, '.git/hooks'), { recursive: true });
  mkdirSync(join(tree, 'deep/er'), { recursive: true });
  writeFileSync(join(tree, 'deep/file'), '');
  writeFileSync(join(tree, '.secrets'), '');
});

const link = (to: string, name: string) => symlinkSync(to, join(tree, name));

describe('a way that begins in a repository', () => {
  test.each<[string, string | undefined, () => void]>([
    ['deep/file', undefined, () => {}],
    ['new/folder/file', undefined, () => {}],
    ['../elsewhere', undefined, () => {}],
    ['.git/hooks/file', undefined, () => {}],
    ['inside/er/new', undefined, () => link('deep', 'inside')],
    ['out/file', 'leads out of', () => link(outside, 'out')],
    ['out/new/folder/file', 'leads out of', () => link(outside, 'out')],
    ['twice/file', 'leads out of', () => [link(outside, 'out'), link('out', 'twice')]],
    ['deep/up/file', 'leads out of', () => link('../..', 'deep/up')],
    ['file', 'leads nowhere', () => link(join(outside, 'new'), 'file')],
    ['hooks/file', 'leads to .git', () => link('.git/hooks', 'hooks')],
    ['plain', 'leads to .secrets', () => link('.secrets', 'plain')],
    ['gone/file', 'leads nowhere', () => link('nothing', 'gone')],
    ['round/file', 'leads nowhere', () => link('round', 'round')],
    // Somebody else's repository, seen through the link, is no excuse.
    ['other/file', 'leads out of', () => [mkdirSync(join(outside, '.git')), link(outside, 'other')]],
  ])('%s: %s', (path, why, prepare) => {
    prepare();
    if (why === undefined) expect(findWayOut(join(tree, path))).toBeUndefined();
    else expect(findWayOut(join(tree, path))).toContain(why);
  });
});

test('of a folder that is no repository nothing is known, until somebody works in it', () => {
  const plain = realpathSync(makeFolder());
  symlinkSync(outside, join(plain, 'out'));
  expect(findWayOut(join(plain, 'out/file'))).toBeUndefined();
  const before = process.cwd();
  process.chdir(plain);
  onTestFinished(() => process.chdir(before));
  expect(findWayOut('out/file')).toContain('leads out of');
  expect(findWayOut('file')).toBeUndefined();
});

test('a link to the repository itself is the person’s own', () => {
  symlinkSync(tree, join(outside, 'work'));
  expect(findWayOut(join(outside, 'work/deep/file'))).toBeUndefined();
});

test.runIf(process.platform !== 'win32')(
  'a folder with nothing but files and folders; a link or a pipe in it, however deep, is told (POSIX)',
  async () => {
    expect(await findOddFile(join(tree, 'nothing'))).toBeUndefined();
    expect(await findOddFile(tree)).toBeUndefined();
    expect(await findOddFile(join(tree, 'deep/file'))).toContain('is not a folder');
    await run(['mkfifo', join(tree, 'deep/er/pipe')]);
    expect(await findOddFile(tree)).toMatch(/deep\/er\/pipe is a device or a pipe/);
    expect(await findOddFile(join(tree, '.git'))).toBeUndefined();
    link('/etc', '.git/link');
    expect(await findOddFile(join(tree, '.git'))).toMatch(/\.git\/link is a symbolic link/);
  },
);
