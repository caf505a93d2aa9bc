import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, it, test } from 'vitest';
import { UnsafeFileError } from '../../../src/contract/errors.ts';
import { coalesce } from '../../../src/disk/fs/durable.ts';
import { replaceFile } from '../../../src/disk/fs/replace.ts';
import { findForeignFiles } from '../../../src/disk/outputs/check-places.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { makeFolder } from '../../rig/folder.ts';
import { Held } from '../../rig/held.ts';
import { has, runProgram } from '../../rig/program.ts';
import { fixture } from './fixtures.ts';
import { jpeg, png } from './media.ts';
import { filesIn, recorded, target } from './targets.ts';

/** An act begins at the end of a turn of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await endOfTurn();
}

test('a request while the act is under way gets one that begins after it, and shares it with the others of that time', async () => {
  const acts = new Held<[], number>();
  const request = coalesce(acts.call);
  const [first, same] = [request(), request()];
  await settled();
  expect(acts.calls).toHaveLength(1);
  const [later, latest] = [request(), request()];
  await settled();
  expect(acts.calls).toHaveLength(1);
  acts.at(0).answer(1);
  await settled();
  expect(acts.calls).toHaveLength(2);
  acts.at(1).answer(2);
  expect(await Promise.all([first, same, later, latest])).toEqual([1, 1, 2, 2]);
});

test('an act that failed fails for those who asked for it, and for nobody after them', async () => {
  const acts = new Held<[], number>();
  const request = coalesce(acts.call);
  const first = request();
  await settled();
  const later = request();
  acts.at(0).fail(new Error('the disk is gone'));
  await expect(first).rejects.toThrow('the disk is gone');
  await settled();
  acts.at(1).answer(2);
  expect(await later).toBe(2);
});

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
    const { out } = await runProgram([...command, ...fixture('append', path, '0', '1', 'replace')]);
    expect(out).toContain('not replaced E');
    expect(readFileSync(path, 'utf8')).toBe('{"header":1}\n');
    expect(readdirSync(folder)).toEqual(['campaign.lock.jsonl']);
  });

  it('syncs the file before it is renamed, and the folder after', async () => {
    const folder = makeFolder();
    const path = join(folder, 'campaign.lock.jsonl');
    const log = join(makeFolder(), 'trace');
    const command = ['strace', '-f', '-qq', '-y', '-o', log, '-e', 'trace=fsync,rename'];
    await runProgram([...command, ...fixture('append', path, '0', '1', 'replace')], {
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    });
    const calls = readFileSync(log, 'utf8')
      .split('\n')
      // What was written last is noted in `.mediabatch/`, for later: only the lock itself counts here.
      .filter((call) => call.includes(folder) && !/\.mediabatch[/>]/.test(call))
      .map((call) => (call.includes('rename(') ? 'rename' : call.includes('.tmp>') ? 'sync file' : 'sync folder'));
    expect(calls).toEqual(['sync file', 'rename', 'sync folder']);
  });
});

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
    expect(one.notices).toEqual([expect.stringContaining('old/a.png was not removed')]);
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

it('foreign files are files under the name of an output, with any extension it could get, that are not ours', async () => {
  const root = makeFolder();
  mkdirSync(join(root, 'images'));
  for (const name of ['hero.png', 'hero.jpg', 'hero.txt', 'hero', 'other.png'])
    writeFileSync(join(root, 'images', name), 'x');
  symlinkSync('nowhere', join(root, 'images', 'linked.webp'));
  const saves = ['images/hero', 'images/linked', 'images/new', 'elsewhere/hero', '../hero'].map((save) => ({
    address: `at ${save}`,
    save,
  }));
  expect(await findForeignFiles(root, saves, (path) => path === 'images/hero.png')).toEqual([
    { address: 'at images/hero', path: 'images/hero.jpg' },
    { address: 'at images/linked', path: 'images/linked.webp' },
  ]);
});
