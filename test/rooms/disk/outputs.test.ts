import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { makeFolder } from '../../rig/folder.ts';
import { has, runProgram, startProgram } from '../../rig/program.ts';
import { fixture } from './fixtures.ts';
import { media, png } from './media.ts';
import { chunks, failure, filesIn, sha256, target } from './targets.ts';

describe('saving', () => {
  it.each(media)('$name gets its extension from its bytes', async ({ bytes, type, extension, media: kind }) => {
    const root = makeFolder();
    const one = target({ media: kind });
    const parts = Array.from({ length: 3 }, (_, index) =>
      bytes.subarray(index * 5, index === 2 ? undefined : index * 5 + 5),
    );
    const output = await createOutputs(root).save(one, { body: chunks(...parts) });
    const path = `images/hero${extension}`;
    expect(output).toEqual({ path, sha256: sha256(bytes), bytes: bytes.length, type });
    expect(readFileSync(join(root, path)).equals(bytes)).toBe(true);
    expect(filesIn(root)).toEqual([path]);
    expect(one.notices).toEqual([]);
  });

  it('what a user accepted is saved whatever it is, if it has any bytes', async () => {
    const root = makeFolder();
    const save = (body: Uint8Array) => createOutputs(root).save({ ...target(), asIs: true }, { body: chunks(body) });
    expect(await save(png.subarray(0, -1))).toMatchObject({ path: 'images/hero.png', type: 'image/png' });
    const text = { path: 'images/hero.bin', type: 'application/octet-stream' };
    expect(await save(Buffer.from('<!doctype html>'))).toMatchObject(text);
    expect((await failure(save(Buffer.alloc(0)))).message).toContain('an empty file');
  });

  const cut = png.subarray(0, -1);

  it.each<[string, (Uint8Array | Error)[], number | undefined, string]>([
    ['a short body', [png.subarray(0, 30)], png.length, 'after 30 of 84 bytes'],
    ['a long body', [png, png], png.length, 'more than the announced 84 bytes'],
    ['a cut body of unknown length', [cut], undefined, 'before the end'],
    ['a picture that is cut where it was said to end', [cut], 83, 'before the end'],
    ['a connection that breaks', [png, new Error('reset')], undefined, 'download was interrupted: reset'],
    ['an HTML page', [Buffer.from('<!doctype html>')], 15, 'an HTML page'],
    ['nothing', [], undefined, 'an empty file'],
    ['a song', [Buffer.from('fLaC')], undefined, 'audio/flac, not an image file'],
    ['too much, announced', [png], 101, 'larger than 100 bytes'],
    ['too much, not announced', [png, png], undefined, 'larger than 100 bytes'],
  ])('%s leaves no file', async (_name, parts, bytes, says) => {
    const root = makeFolder();
    const incoming = { body: chunks(...parts), ...(bytes !== undefined && { bytes }) };
    const error = await failure(createOutputs(root, { maxBytes: 100 }).save(target(), incoming));
    expect(error.why).toBe('bad-bytes');
    expect(error.message).toContain(says);
    expect(filesIn(root)).toEqual([]);
  });

  it('closes a body that it does not want to the end', async () => {
    let isClosed = false;
    async function* endless() {
      try {
        for (;;) yield png;
      } finally {
        isClosed = true;
      }
    }
    await failure(createOutputs(makeFolder(), { maxBytes: 1000 }).save(target(), { body: endless() }));
    expect(isClosed).toBe(true);
  });

  it.each([
    { name: 'that is too large', save: 'hero', bytes: 1001 },
    { name: 'whose path is refused', save: '../hero', bytes: 84 },
    { name: 'whose folder is a link', save: 'link/hero', bytes: 84 },
  ])('closes a body $name, though it was never begun', async ({ save, bytes }) => {
    const root = makeFolder();
    symlinkSync('.', join(root, 'link'));
    const asked: string[] = [];
    const body: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => body,
      next: async () => {
        asked.push('next');
        return { done: false, value: png };
      },
      return: async () => {
        asked.push('return');
        return { done: true, value: undefined };
      },
    };
    await failure(createOutputs(root, { maxBytes: 1000 }).save(target({ save }), { body, bytes }));
    expect(asked).toEqual(['return']);
  });

  it.each([
    '../x',
    'a/../../x',
    '/tmp/x',
    'a//x',
    './x',
    'a\\..\\x',
    'C:x',
    'a\u0000b',
    '',
    '.git/hooks/x',
    'a/.GIT/x',
    '.mediabatch/x',
    'node_modules/x',
    'n'.repeat(300),
  ])('refuses the path %j', async (save) => {
    const root = join(makeFolder(), 'root');
    mkdirSync(root);
    expect(await failure(createOutputs(root).save(target({ save }), { body: chunks(png) }))).toMatchObject({
      why: 'path',
    });
    expect(filesIn(join(root, '..'))).toEqual([]);
  });

  it('does not write through a linked folder, nor over a link, a folder or a file in the place of a folder', async () => {
    const folder = makeFolder();
    const root = join(folder, 'root');
    mkdirSync(join(folder, 'outside'));
    mkdirSync(join(root, 'taken.png'), { recursive: true });
    writeFileSync(join(root, 'file'), 'x');
    writeFileSync(join(folder, 'outside', 'precious.png'), 'precious');
    symlinkSync('../outside', join(root, 'link'));
    symlinkSync('../outside/precious.png', join(root, 'hero.png'));
    for (const save of ['link/a', 'link/deep/a', 'hero', 'taken', 'file/a']) {
      expect(await failure(createOutputs(root).save(target({ save }), { body: chunks(png) })), save).toMatchObject({
        why: 'path',
      });
    }
    expect(filesIn(join(folder, 'outside'))).toEqual(['precious.png']);
    expect(readFileSync(join(folder, 'outside', 'precious.png'), 'utf8')).toBe('precious');
    expect(filesIn(root).filter((path) => path.includes('.part'))).toEqual([]);
  });

  it('does not write through a link that replaces a folder between two files of a run', async () => {
    const folder = makeFolder();
    const root = join(folder, 'root');
    mkdirSync(join(folder, 'outside', 'inner'), { recursive: true });
    const outputs = createOutputs(root);
    await outputs.save(target({ save: 'images/inner/a' }), { body: chunks(png) });
    renameSync(join(root, 'images'), join(folder, 'moved'));
    for (const place of ['outside', 'moved']) {
      rmSync(join(root, 'images'), { force: true });
      symlinkSync(`../${place}`, join(root, 'images'));
      const save = outputs.save(target({ save: 'images/inner/b' }), { body: chunks(png) });
      expect(await failure(save), place).toMatchObject({ why: 'path' });
    }
    expect(filesIn(folder)).toEqual(['moved/inner/a.png', 'root/images']);
  });

  it('may have a root that is reached through a link, and one that does not exist yet', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'root'));
    await createOutputs(join(folder, 'root')).save(target(), { body: chunks(png) });
    await createOutputs(join(folder, 'new', 'root')).save(target(), { body: chunks(png) });
    expect(filesIn(folder)).toEqual(['new/root/images/hero.png', 'real/images/hero.png', 'root']);
  });

  it('puts a file aside that is not ours, over no other file, and says so', async () => {
    const root = makeFolder();
    const stranger = Buffer.from('made by hand');
    mkdirSync(join(root, 'images'));
    const aside = `images/hero.changed-${sha256(stranger).slice(0, 8)}`;
    writeFileSync(join(root, 'images', 'hero.png'), stranger);
    writeFileSync(join(root, `${aside}.png`), 'another');
    const one = target();
    await createOutputs(root).save(one, { body: chunks(png) });
    expect(filesIn(root)).toEqual([`${aside}-2.png`, `${aside}.png`, 'images/hero.png']);
    expect(readFileSync(join(root, `${aside}-2.png`)).equals(stranger)).toBe(true);
    expect(readFileSync(join(root, `${aside}.png`), 'utf8')).toBe('another');
    expect(one.notices).toEqual([expect.stringContaining(`it was renamed to ${aside}-2.png`)]);
  });

  it('replaces its own earlier file, and the same bytes', async () => {
    const root = makeFolder();
    const old = Buffer.from('old output');
    writeFileSync(join(root, 'hero.png'), old);
    const one = target({ save: 'hero', replaces: [sha256(old)] });
    const saved = new SavedFiles();
    await saved.note('hero.png', sha256(old));
    await createOutputs(root, { saved }).save(one, { body: chunks(png) });
    await createOutputs(root).save(target({ save: 'hero' }), { body: chunks(png) });
    expect(filesIn(root)).toEqual(['hero.png']);
    expect(one.notices).toEqual([]);
  });

  it('replaces no file that was not saved from here, though the lock says that it may', async () => {
    const root = makeFolder();
    const logo = Buffer.from('somebody’s logo');
    writeFileSync(join(root, 'logo.png'), logo);
    const one = target({ save: 'logo', replaces: [sha256(logo)] });
    await createOutputs(root).save(one, { body: chunks(png) });
    const aside = `logo.changed-${sha256(logo).slice(0, 8)}.png`;
    expect(filesIn(root)).toEqual([aside, 'logo.png']);
    expect(readFileSync(join(root, aside)).equals(logo)).toBe(true);
    expect(one.notices).toEqual([expect.stringContaining('was not saved by this machine')]);
  });

  it('has no final name when it is killed in the middle', async () => {
    const root = makeFolder();
    const program = startProgram(fixture('save', root), { stdin: 'pipe' });
    await program.saw('halfway');
    expect(existsSync(join(root, 'images', 'hero.png'))).toBe(false);
    program.child.kill('SIGKILL');
    await program.ended;
    expect(filesIn(root)).toEqual([expect.stringMatching(/^images\/\.mediabatch-[0-9a-f]{16}\.part$/)]);
  });
});

describe('when this machine cannot write', () => {
  it.runIf(!has.root)('says which folder is not writable', async () => {
    const root = makeFolder();
    chmodSync(root, 0o555);
    expect(await failure(createOutputs(root).save(target(), { body: chunks(png) }))).toMatchObject({ why: 'disk' });
  });

  it.runIf(has.root && has.mounts)('tells a read-only folder and a full disk (root)', async () => {
    const root = makeFolder();
    const words = fixture('save', root)
      .map((word) => `'${word}'`)
      .join(' ');
    const isolated = (script: string) =>
      runProgram(['unshare', '--mount', 'sh', '-ec', `${script}; echo | ${words}; ls -A '${root}/images'`]);
    const readOnly = await isolated(
      `mkdir '${root}/images'; mount --bind '${root}' '${root}'; mount -o remount,ro,bind '${root}'`,
    );
    expect(readOnly.out).toContain('failed disk');
    expect(readOnly.out).toContain('the file system is read-only');
    const full = await isolated(
      `mount -t tmpfs -o size=8k tmpfs '${root}'; mkdir '${root}/images'; head -c 9000 /dev/zero > '${root}/x' || true`,
    );
    expect(full.out).toContain('failed disk');
    expect(full.out).toContain('the disk is full: make room and run again');
    expect(full.out).not.toContain('.part');
  });

  it.runIf(has.strace)('syncs the file before it is renamed, and the folder after (strace)', async () => {
    const root = makeFolder();
    const log = join(makeFolder(), 'trace');
    const trace = ['strace', '-f', '-qq', '-y', '-o', log, '-e', 'trace=fsync,rename'];
    const program = startProgram([...trace, ...fixture('save', root)], { stdin: 'pipe' });
    await program.saw('halfway');
    program.child.stdin?.write('go\n');
    await program.ended;
    const calls = readFileSync(log, 'utf8')
      .split('\n')
      .filter((call) => call.includes(join(root, 'images')));
    const what = (call: string) => (call.includes('rename(') ? 'rename' : call.includes('.part>') ? 'file' : 'folder');
    expect(calls.map(what).slice(-3)).toEqual(['file', 'rename', 'folder']);
  });

  it.runIf(has.strace)('leaves no file after fsync fails (strace)', async () => {
    const root = makeFolder();
    const inject = ['-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO'];
    const program = startProgram(['strace', '-f', '-qq', '-o', '/dev/null', ...inject, ...fixture('save', root)], {
      stdin: 'pipe',
    });
    await program.saw('halfway');
    program.child.stdin?.write('go\n');
    const { out } = await program.ended;
    expect(out).toContain('failed disk');
    expect(out).toContain('the disk reports a read or write error');
    expect(filesIn(root)).toEqual([]);
  });
});
