import { mkdirSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOutputs, findStrangers } from '../../../src/disk/outputs/outputs.ts';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { makeFolder } from './folder.ts';
import { jpeg, png } from './media.ts';
import { filesIn, recorded, sha256, target } from './targets.ts';

describe('relocating', () => {
  function withFile(bytes: Uint8Array = png, saved = new SavedFiles()) {
    const root = makeFolder();
    mkdirSync(join(root, 'old'));
    writeFileSync(join(root, 'old', 'a.png'), bytes);
    const from = recorded('old/a.png', png);
    void saved.note(from.path, from.sha256);
    return { root, outputs: createOutputs(root, { saved }), from };
  }

  it('copies a file that was not saved from here, whatever the lock says, and says so', async () => {
    const { root, from } = withFile();
    const one = target();
    const elsewhere = new SavedFiles();
    await elsewhere.note('other/a.png', from.sha256);
    const outputs = createOutputs(root, { saved: elsewhere });
    expect(await outputs.relocate(one, from, { remove: true })).toEqual({ ...from, path: 'images/hero.png' });
    expect(filesIn(root)).toEqual(['images/hero.png', 'old/a.png']);
    expect(statSync(join(root, 'old/a.png')).nlink).toBe(1);
    expect(one.notices).toEqual([expect.stringContaining('old/a.png stays')]);
  });

  it('leaves a file that had the same bytes all along to whoever put it there', async () => {
    const { root, from } = withFile();
    mkdirSync(join(root, 'assets'));
    writeFileSync(join(root, 'assets', 'logo.png'), png);
    const saved = new SavedFiles();
    await saved.note(from.path, from.sha256);
    const outputs = createOutputs(root, { saved });
    const logo = await outputs.relocate(target({ save: 'assets/logo' }), from, { remove: true });
    expect(logo?.path).toBe('assets/logo.png');
    expect(saved.has('assets/logo.png', from.sha256)).toBe(false);
    await outputs.relocate(target(), { ...from, path: 'assets/logo.png' }, { remove: true });
    expect(filesIn(root)).toEqual(['assets/logo.png', 'images/hero.png']);
    expect(saved.has('images/hero.png', from.sha256)).toBe(true);
  });

  it('leaves what has taken the old name while the file moved', async () => {
    const { root, from } = withFile();
    const place = join(root, from.path);
    const saved = new (class extends SavedFiles {
      override async note(path: string, digest: string) {
        await super.note(path, digest);
        if (path === from.path) return;
        unlinkSync(place);
        writeFileSync(place, jpeg);
      }
    })();
    await saved.note(from.path, from.sha256);
    await createOutputs(root, { saved }).relocate(target(), from, { remove: true });
    expect(filesIn(root)).toEqual(['images/hero.png', 'old/a.png']);
    expect(readFileSync(place).equals(jpeg)).toBe(true);
  });

  it('goes on when the bytes are under both names', async () => {
    const { root, outputs, from } = withFile();
    await outputs.relocate(target(), from);
    expect(await outputs.relocate(target(), from, { remove: true })).toMatchObject({ path: 'images/hero.png' });
    expect(filesIn(root)).toEqual(['images/hero.png']);
  });

  it('puts a stranger aside', async () => {
    const { root, outputs, from } = withFile();
    writeFileSync(join(root, 'hero.png'), jpeg);
    const one = target({ save: 'hero' });
    await outputs.relocate(one, from, { remove: true });
    expect(filesIn(root)).toEqual([`hero.changed-${sha256(jpeg).slice(0, 8)}.png`, 'hero.png']);
    expect(one.notices).toHaveLength(1);
  });

  it('does nothing with a file that is gone, changed, or reached through a link', async () => {
    const changed = withFile(jpeg);
    expect(await changed.outputs.relocate(target(), changed.from, { remove: true })).toBeUndefined();
    expect(filesIn(changed.root)).toEqual(['old/a.png']);
    const { root, outputs, from } = withFile();
    symlinkSync('old', join(root, 'link'));
    symlinkSync('old/a.png', join(root, 'b.png'));
    for (const path of ['nowhere/a.png', 'old/b.png', 'link/a.png', 'b.png']) {
      expect(await outputs.relocate(target(), { ...from, path }, { remove: true }), path).toBeUndefined();
    }
    expect(filesIn(root)).toEqual(['b.png', 'link', 'old/a.png']);
  });
});

describe('strangers', () => {
  it('are files under the name of an output, with any extension it could get, that are not ours', async () => {
    const root = makeFolder();
    mkdirSync(join(root, 'images'));
    for (const name of ['hero.png', 'hero.jpg', 'hero.txt', 'hero', 'other.png'])
      writeFileSync(join(root, 'images', name), 'x');
    symlinkSync('nowhere', join(root, 'images', 'linked.webp'));
    const saves = ['images/hero', 'images/linked', 'images/new', 'elsewhere/hero', '../hero'].map((save) => ({
      address: `at ${save}`,
      save,
    }));
    expect(await findStrangers(root, saves, (path) => path === 'images/hero.png')).toEqual([
      { address: 'at images/hero', path: 'images/hero.jpg' },
      { address: 'at images/linked', path: 'images/linked.webp' },
    ]);
  });
});
