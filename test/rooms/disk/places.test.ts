import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { renameFile, unlinkFile } from '../../../src/disk/fs/durable.ts';
import { findOddFile, makeFolders } from '../../../src/disk/fs/folders.ts';
import { findWayOut } from '../../../src/disk/fs/own-tree.ts';
import { hasNoLinks, isSameName } from '../../../src/disk/fs/plain-file.ts';
import { openLockFile } from '../../../src/disk/lock/lock-file.ts';
import { findBadPlaces } from '../../../src/disk/outputs/check-places.ts';
import { isSameFolder, prepareOutputFolder } from '../../../src/disk/outputs/output-path.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { createRequestBodies } from '../../../src/disk/state/request-bodies.ts';
import type { Output } from '../../../src/lock/record.ts';
import { shellWord } from '../../../src/report/advice-text.ts';
import { makeFolder } from '../../rig/folder.ts';
import { recorded, target } from './targets.ts';

function look(root: string, paths: string[], ownRoot = false) {
  const saves = paths.map((save, index) => ({ address: `s${index + 1}`, save }));
  return findBadPlaces(root, saves, { ownRoot });
}

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

test('a link in the place of a removed folder is not taken for it', async () => {
  const root = makeFolder();
  mkdirSync(join(root, 'elsewhere'));
  const { folder } = await prepareOutputFolder(join(root, 'out'), 'a/b.png');
  expect(isSameFolder(folder)).toBe(true);
  rmdirSync(folder);
  symlinkSync(join(root, 'elsewhere'), folder);
  expect(isSameFolder(folder)).toBe(false);
  await expect(prepareOutputFolder(join(root, 'out'), 'a/b.png')).rejects.toThrow('is a symbolic link');
});

describe('own tree', () => {
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
    ['file', 'is broken', () => link(join(outside, 'new'), 'file')],
    ['hooks/file', 'leads to .git', () => link('.git/hooks', 'hooks')],
    ['plain', 'leads to .secrets', () => link('.secrets', 'plain')],
    ['gone/file', 'is broken', () => link('nothing', 'gone')],
    ['round/file', 'is broken', () => link('round', 'round')],
    // Somebody else's repository, seen through the link, is no excuse.
    ['other/file', 'leads out of', () => [mkdirSync(join(outside, '.git')), link(outside, 'other')]],
  ])('a way that begins in a repository: %s: %s', (path, why, prepare) => {
    prepare();
    if (why === undefined) expect(findWayOut(join(tree, path))).toBeUndefined();
    else expect(findWayOut(join(tree, path))).toContain(why);
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
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(tree, 'deep/er/pipe'), resolve));
      onTestFinished(() => void server.close());
      expect(await findOddFile(tree)).toMatch(/deep\/er\/pipe is a device or a pipe/);
      expect(await findOddFile(join(tree, '.git'))).toBeUndefined();
      link('/etc', '.git/link');
      expect(await findOddFile(join(tree, '.git'))).toMatch(/\.git\/link is a symbolic link/);
    },
  );
});

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

test('what is absent is said at once, and not tried again where another program may hold a file', async () => {
  const path = join(makeFolder(), 'gone');
  await expect(unlinkFile(path, 'win32')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(renameFile(path, `${path}2`, 'win32')).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('a lock where nobody replaces a file that is open', () => {
  const header = '{"mediabatch":"lock","version":2}';

  test('is closed, replaced, and goes on with what it is now', async () => {
    const path = join(makeFolder(), 'campaign.lock.jsonl');
    const lock = await openLockFile(path, { header, platform: 'win32' });
    await lock.append('one\n');
    await lock.append('two\n');
    await lock.replace([`${header}\n`, 'both\n']);
    await lock.append('three\n');
    await lock.close();
    expect(readFileSync(path, 'utf8')).toBe(`${header}\nboth\nthree\n`);
  });

  test('that cannot be replaced is as it was, and takes what is paid next', async () => {
    const path = join(makeFolder(), 'campaign.lock.jsonl');
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

describe('attacks', () => {
  const shade = (number: number) => Buffer.from(`\x89PNG ${number}`);

  function place(root: string, path: string, bytes: Buffer): Output {
    writeFileSync(join(root, path), bytes);
    return recorded(path, bytes);
  }

  test.each([2, 3, 5])('%i files that swap names in a ring: all there, none twice, nothing left', async (count) => {
    const root = makeFolder();
    const saved = new SavedFiles();
    const outputs = createOutputs(root, { saved });
    const files = Array.from({ length: count }, (_, index) => place(root, `f${index}.png`, shade(index)));
    for (const { path, sha256 } of files) await saved.note(path, sha256);
    const aims = files.map((_, index) => `f${(index + 1) % count}`);
    const moved = await Promise.all(
      files.map((file, index) => outputs.relocate(target({ save: aims[index] ?? '' }), file, { remove: true })),
    );
    expect(moved.map((output) => output?.path)).toEqual(aims.map((aim) => `${aim}.png`));
    expect(readdirSync(root).sort()).toEqual(files.map(({ path }) => path).sort());
    for (const [index, aim] of aims.entries()) expect(readFileSync(join(root, `${aim}.png`))).toEqual(shade(index));
  });

  test('a file that is no media is nobody’s output, whatever a lock says', async () => {
    const root = makeFolder();
    const code = place(root, 'index.js', Buffer.from('code'));
    expect(await createOutputs(root).relocate(target(), code, { remove: true })).toBeUndefined();
    expect(readdirSync(root)).toEqual(['index.js']);
  });

  test('a link as .gitignore of a state folder is not written through', async () => {
    const root = makeFolder();
    const state = join(root, '.mediabatch');
    writeFileSync(join(root, 'precious'), 'mine');
    mkdirSync(state);
    symlinkSync('../precious', join(state, '.gitignore'));
    await createRequestBodies(state).keep('mb1-a', '{}');
    expect(readFileSync(join(root, 'precious'), 'utf8')).toBe('mine');
  });

  test('a linked state folder is refused', async () => {
    const root = makeFolder();
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync('elsewhere', join(root, '.mediabatch'));
    const kept = createRequestBodies(join(root, '.mediabatch')).keep('mb1-a', '{}');
    await expect(kept).rejects.toThrow(/symbolic link/);
    expect(readdirSync(join(root, 'elsewhere')).filter((name) => name !== 'bodies')).toEqual([]);
  });
});
