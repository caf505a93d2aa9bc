import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { keepAnswer, keepDurations, readAnswer, readKeptDurations } from '../../../src/disk/state/caches.ts';
import { createRequestBodies } from '../../../src/disk/state/request-bodies.ts';
import { findOwn, makeOwn, readSealedFile, writeSealedFile } from '../../../src/disk/state/sealed-file.ts';
import { makeFolder, makePipe } from '../../rig/folder.ts';

let home: string;
let state: string;
beforeEach(() => {
  home = makeFolder();
  state = join(makeFolder(), '.mediabatch');
  setHome(home);
});

/** Whoever runs this: a person with this folder for what programs keep, and for temporary files, where they look next. */
function setHome(path: string, temporary: string = path): void {
  for (const [name, folder] of Object.entries({ XDG_STATE_HOME: path, TMPDIR: temporary })) {
    const before = process.env[name];
    process.env[name] = folder;
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

/** Another person, who keeps things as well. */
async function beSomebodyElse(): Promise<void> {
  setHome(makeFolder());
  await makeOwn();
}

/** A link in the place of a file or a folder, to what stood there. */
function linkInstead(path: string, elsewhere: string): void {
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
}

function makePipeInstead(path: string): void {
  rmSync(path);
  makePipe(path);
}

const keyFile = () => join(home, 'mediabatch/key');
const limit = 1000;

describe('the secret of a person on a machine', () => {
  test('is made once, for this person alone, and only by who writes', async () => {
    expect(findOwn()?.secret).toBeUndefined();
    expect(readdirSync(home)).toEqual([]);
    const own = await Promise.all(Array.from({ length: 5 }, () => makeOwn()));
    expect(new Set(own.map((one) => one?.secret.toString('hex'))).size).toBe(1);
    expect(findOwn()).toEqual(own[0]);
    expect([statSync(keyFile()).mode & 0o777, statSync(join(home, 'mediabatch')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(join(home, 'mediabatch'))).toEqual(['key']);
  });

  test('is another one when a checkout has put the file there', async () => {
    const secret = (await makeOwn())?.secret;
    const text = readFileSync(keyFile());
    renameSync(keyFile(), join(home, 'known'));
    writeFileSync(keyFile(), text, { mode: 0o600 });
    expect(findOwn()?.secret).toBeDefined();
    expect(findOwn()?.secret).not.toEqual(secret);
  });

  test.runIf(process.platform !== 'win32').each<[string, () => void]>([
    ['others may read', () => chmodSync(keyFile(), 0o644)],
    ['is a link', () => linkInstead(keyFile(), join(home, 'key'))],
    ['is a pipe', () => makePipeInstead(keyFile())],
    ['is cut short', () => writeFileSync(keyFile(), 'f'.repeat(64))],
    ['is no secret', () => writeFileSync(keyFile(), `${'x'.repeat(64)}\n`)],
  ])('a file that %s is none (POSIX)', async (_, spoil) => {
    await makeOwn();
    await writeSealedFile(state, 'a.json', 'kept');
    expect(await readSealedFile(state, 'a.json', { mostBytes: limit })).toBeDefined();
    spoil();
    expect(findOwn()?.secret).toBeUndefined();
    expect(await readSealedFile(state, 'a.json', { mostBytes: limit })).toBeUndefined();
  });
});

const read = (folder: string, name: string) => readSealedFile(folder, name, { mostBytes: limit });

describe('a sealed file', () => {
  test('is read as it was written, also after the folder has moved', async () => {
    await writeSealedFile(state, 'deep/a.json', 'kept ✓');
    const elsewhere = join(makeFolder(), '.mediabatch');
    renameSync(state, elsewhere);
    expect((await read(elsewhere, 'deep/a.json'))?.toString()).toBe('kept ✓');
  });

  test.each<[string, (path: string) => void | Promise<void>]>([
    ['that was changed', (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('kept', 'KEPT'))],
    ['with something after it', (path) => writeFileSync(path, 'x', { flag: 'a' })],
    ['without a seal', (path) => writeFileSync(path, 'kept')],
    ['that is empty', (path) => writeFileSync(path, '')],
    ['of another name', (path) => copyFileSync(join(path, '../b.json'), path)],
    ['sealed by somebody else', () => beSomebodyElse()],
    ['that is too large', (path) => writeFileSync(path, 'x'.repeat(limit), { flag: 'a' })],
  ])('%s counts as absent', async (_, spoil) => {
    await writeSealedFile(state, 'b.json', 'other');
    await writeSealedFile(state, 'a.json', 'kept');
    await spoil(join(state, 'a.json'));
    expect(await read(state, 'a.json')).toBeUndefined();
  });

  test.each<[string, () => void]>([
    ['the file', () => linkInstead(join(state, 'd/a.json'), join(state, 'x'))],
    ['a folder on the way', () => linkInstead(join(state, 'd'), join(state, 'e'))],
    ['the folder of state', () => linkInstead(state, `${state}-real`)],
  ])('is not read where %s is a link', async (_, spoil) => {
    await writeSealedFile(state, 'd/a.json', 'kept');
    expect(await read(state, 'd/a.json')).toBeDefined();
    spoil();
    await expect(read(state, 'd/a.json')).rejects.toThrow(/symbolic link/);
    await expect(writeSealedFile(state, 'd/a.json', 'more')).rejects.toThrow(/symbolic link/);
  });
});

/** Everything that a later run goes by, as somebody could commit it, and as it is kept here. */
describe('what a branch of somebody else puts into .mediabatch', () => {
  const everything = async (folder: string) => ({
    body: await createRequestBodies(folder).read('mb1-a'),
    document: await readAnswer(folder, 'abc', 'document'),
    durations: await readKeptDurations({ state: folder, durations: 'durations.json' }),
    isSaved: new SavedFiles(folder, join(folder, '..')).has('a.png', 'f'.repeat(64)),
  });
  const keepAll = async () => {
    await createRequestBodies(state).keep('mb1-a', '{"prompt":"theirs"}');
    await keepAnswer(state, 'abc', 'document', { paths: {} });
    await keepDurations({ state, durations: 'durations.json' }, { image: [1] });
    await new SavedFiles(state, join(state, '..')).note('a.png', 'f'.repeat(64));
  };
  const nothing = { body: undefined, document: undefined, durations: {}, isSaved: false };

  test('counts for nothing, and what was kept here for all', async () => {
    await keepAll();
    expect(await everything(state)).toEqual({
      body: '{"prompt":"theirs"}',
      document: { paths: {} },
      durations: { image: [1] },
      isSaved: true,
    });
    await beSomebodyElse();
    expect(await everything(state)).toEqual(nothing);
  });

  test('a user whose home is read-only keeps no secret: nothing falls back to a folder for temporary files', async () => {
    const taken = join(makeFolder(), 'file');
    writeFileSync(taken, '');
    const temporary = makeFolder();
    setHome(taken, temporary);
    await keepAll();
    expect((await everything(state)).body).toBeUndefined();
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe('files that were saved from here', () => {
  const digest = 'a'.repeat(64);

  test('are known by path and digest, below the folder of outputs', async () => {
    const folder = join(state, '..');
    await new SavedFiles(state, folder).note('images/a.png', digest);
    await new SavedFiles(state, join(folder, 'campaign.sandbox')).note('images/b.png', digest);
    const real = new SavedFiles(state, folder);
    const play = new SavedFiles(state, join(folder, 'campaign.sandbox'));
    expect([real.has('images/a.png', digest), real.has('images/a.png', 'b'.repeat(64))]).toEqual([true, false]);
    expect([real.has('images/b.png', digest), play.has('images/b.png', digest)]).toEqual([false, true]);
  });

  test('are known line by line: a line of somebody else is none, and spoils no other', async () => {
    const folder = join(state, '..');
    await new SavedFiles(state, folder).note('a.png', digest);
    const path = join(state, 'saved-files');
    const line = readFileSync(path, 'utf8');
    writeFileSync(path, `<<<<<<< HEAD\n${line}=======\n${line.replace('a.png', 'assets/logo.png')}\n`);
    const saved = new SavedFiles(state, folder);
    expect([saved.has('a.png', digest), saved.has('assets/logo.png', digest)]).toEqual([true, false]);
  });

  test.runIf(process.platform !== 'win32')('are noted in no link, pipe or folder (POSIX)', async () => {
    const folder = join(state, '..');
    mkdirSync(state);
    writeFileSync(join(folder, 'precious'), 'mine');
    symlinkSync('../precious', join(state, 'saved-files'));
    await new SavedFiles(state, folder).note('a.png', digest);
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('mine');
    expect(new SavedFiles(state, folder).has('a.png', digest)).toBe(false);
    makePipeInstead(join(state, 'saved-files'));
    await new SavedFiles(state, folder).note('a.png', digest);
    expect(new SavedFiles(state, folder).has('a.png', digest)).toBe(false);
  });
});
