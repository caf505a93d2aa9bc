import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeptFiles } from '../../../src/disk/outputs/kept-files.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { makeFolder } from './folder.ts';
import { jpeg, png } from './media.ts';
import { chunks, filesIn, recorded, sha256, target } from './targets.ts';

/** Another picture, as far as anybody looks: a chunk more before the end. */
const newPng = Buffer.concat([
  png.subarray(0, -12),
  Buffer.from('\0\0\0\x04tEXtmore\0\0\0\0', 'latin1'),
  png.subarray(-12),
]);

/** A folder with a saved `a.png` that the next output may replace. */
function withSaved(state = makeFolder()) {
  const root = makeFolder();
  const from = recorded('a.png', png);
  writeFileSync(join(root, 'a.png'), png);
  const saved = new SavedFiles();
  void saved.note(from.path, from.sha256);
  const kept = new KeptFiles(state, 'kept');
  const outputs = createOutputs(root, { saved, kept });
  const aim = target({ save: 'a', replaces: [from.sha256] });
  const replace = () => outputs.save(aim, { body: chunks(newPng), bytes: newPng.length });
  return { root, state, from, kept, outputs, aim, replace, name: `${from.sha256}.png` };
}

describe('what a newer output replaces', () => {
  it('stays under its digest, and comes back as a file of its own', async () => {
    const { root, state, from, kept, outputs, aim, replace, name } = withSaved();
    const { ino } = statSync(join(root, 'a.png'));
    const newer = await replace();
    expect(filesIn(root)).toEqual(['a.png']);
    expect(filesIn(state)).toEqual(['.gitignore', `kept/${name}`]);
    expect(statSync(join(state, 'kept', name)).ino).toBe(ino);
    expect(await outputs.relocate({ ...aim, replaces: [newer.sha256] }, from, { remove: true })).toEqual(from);
    expect(readFileSync(join(root, 'a.png')).equals(png)).toBe(true);
    appendFileSync(join(root, 'a.png'), 'retouched');
    expect(await kept.find(from)).toBe(join(state, 'kept', name));
    expect(await kept.find(newer)).toBe(join(state, 'kept', `${newer.sha256}.png`));
    expect(aim.notices).toEqual([]);
  });

  it.skipIf(!existsSync('/dev/shm') || statSync('/dev/shm').dev === statSync('/tmp').dev)(
    'is copied where a file cannot have two names',
    async () => {
      const state = mkdtempSync('/dev/shm/mediabatch-');
      onTestFinished(() => rmSync(state, { recursive: true }));
      const { from, kept, replace, name } = withSaved(state);
      await replace();
      expect(await kept.find(from)).toBe(join(state, 'kept', name));
      expect(filesIn(state)).toEqual(['.gitignore', `kept/${name}`]);
    },
  );

  it('is not used once it is damaged, and mended by the next one', async () => {
    const { root, state, from, kept, outputs, aim, replace, name } = withSaved();
    await replace();
    for (const damage of [jpeg, Buffer.concat([png, png]), Buffer.from(png).fill(0, 40)]) {
      writeFileSync(join(state, 'kept', name), damage);
      expect(await kept.find(from)).toBeUndefined();
      expect(await outputs.relocate(aim, from, { remove: true })).toBeUndefined();
    }
    expect(sha256(readFileSync(join(root, 'a.png')))).toBe(sha256(newPng));
    writeFileSync(join(root, 'a.png'), png);
    await replace();
    expect(await kept.find(from)).toBe(join(state, 'kept', name));
  });

  it.runIf(process.platform !== 'win32').each([
    ['a link', (path: string, victim: string) => symlinkSync(victim, path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('takes the place of %s (POSIX)', async (_is, make) => {
    const { root, state, from, kept, replace, name } = withSaved();
    mkdirSync(join(state, 'kept'));
    writeFileSync(join(state, 'victim'), png);
    make(join(state, 'kept', name), join(state, 'victim'));
    expect(await kept.find(from)).toBeUndefined();
    await replace();
    expect(readFileSync(join(root, 'a.png')).equals(newPng)).toBe(true);
    expect(await kept.find(from)).toBe(join(state, 'kept', name));
    expect(readFileSync(join(state, 'victim')).equals(png)).toBe(true);
  });

  it.runIf(process.platform !== 'win32').each([
    [
      'a folder has its name',
      (state: string, name: string) => mkdirSync(join(state, 'kept', name), { recursive: true }),
    ],
    ['the folder is a file', (state: string) => writeFileSync(join(state, 'kept'), '')],
    ['the folder is a pipe', (state: string) => execFileSync('mkfifo', [join(state, 'kept')])],
    ['the folder is a link', (state: string) => symlinkSync('..', join(state, 'kept'))],
  ])('stays beside the new one, and that is said, where it cannot be kept: %s (POSIX)', async (_is, spoil) => {
    const { root, state, from, kept, outputs, aim, replace, name } = withSaved();
    spoil(state, name);
    const before = filesIn(state);
    await replace();
    expect(readFileSync(join(root, 'a.png')).equals(newPng)).toBe(true);
    expect(await kept.find(from)).toBeUndefined();
    const aside = `a.changed-${from.sha256.slice(0, 8)}.png`;
    expect(aim.notices).toEqual([expect.stringContaining(`a.png is kept as ${aside}: `)]);
    expect(filesIn(state).filter((path) => path !== '.gitignore')).toEqual(before);
    expect(filesIn(root)).toEqual([aside, 'a.png']);
    // And is found there when an earlier input comes back.
    expect(await outputs.relocate({ ...aim, save: 'b' }, from, { remove: false })).toMatchObject({ path: 'b.png' });
  });
});
