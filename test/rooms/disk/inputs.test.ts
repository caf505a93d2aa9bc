import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../../../src/disk/fs/list-files.ts';
import { asText, digestFile, readDataFile, readManifestText } from '../../../src/disk/inputs.ts';
import { makeFolder, makePipe } from '../../rig/folder.ts';
import { has } from '../../rig/program.ts';
import { sha256 } from './targets.ts';

describe('a manifest', () => {
  it('is read without its byte order mark, also through a link', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'campaign.yaml'), '\ufeffname: ü\r\n');
    symlinkSync('campaign.yaml', join(folder, 'link.yaml'));
    for (const name of ['campaign.yaml', 'link.yaml'])
      expect(await readManifestText(join(folder, name))).toEqual({ text: 'name: ü\r\n' });
  });

  it('is missing, a folder, too large or not UTF-8', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'large.yaml'), '');
    truncateSync(join(folder, 'large.yaml'), 1024 ** 2 + 1);
    writeFileSync(join(folder, 'latin1.yaml'), Buffer.from('name: x\nb: caf\xe9\n', 'latin1'));
    writeFileSync(join(folder, 'file'), '');
    const problemOf = (name: string) => readManifestText(join(folder, name));
    expect(await problemOf('none.yaml')).toMatchObject({ problem: 'missing' });
    expect(await problemOf('file/none.yaml')).toMatchObject({ problem: 'missing' });
    expect(await problemOf('.')).toMatchObject({ problem: 'not-a-file' });
    expect(await problemOf('large.yaml')).toEqual({
      problem: 'too-large',
      detail: 'the file has 1048577 bytes, and at most 1048576 are read',
    });
    expect(await problemOf('latin1.yaml')).toEqual({
      problem: 'unreadable',
      detail: 'line 2 is not UTF-8 text, but probably Windows-1252; save the file as UTF-8',
    });
  });

  it.each([
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00], 'it is UTF-16 text, or a binary file'],
    ['UTF-16 of the other order', [0xfe, 0xff, 0x00, 0x61], 'it is UTF-16 text, or a binary file'],
    ['UTF-16 without a mark', [0x61, 0x00, 0xe4, 0x00], 'it is UTF-16 text, or a binary file'],
    ['a workbook with another name', [0x50, 0x4b, 0x03, 0x04, 0xe4], 'it is a ZIP archive, such as a workbook'],
    ['bytes that Windows-1252 does not have', [0x61, 0x0a, 0x81], 'line 2 is not UTF-8 text'],
  ])('that is %s is named as that', (_what, bytes, what) => {
    expect(asText({ bytes: Uint8Array.from(bytes) })).toEqual({
      problem: 'unreadable',
      detail: `${what}; save the file as UTF-8`,
    });
  });

  it.runIf(has.linux)('is not waited for when it is a pipe that nobody writes, nor is an upload (Linux)', async () => {
    const folder = makeFolder();
    const path = join(folder, 'pipe.jpg');
    makePipe(path);
    expect(await readManifestText(path)).toEqual({ problem: 'not-a-file', detail: 'it is a device or a pipe' });
    expect(await digestFile(folder, 'pipe.jpg')).toEqual({ problem: 'it is a device or a pipe' });
  });
});

describe('a data file', () => {
  it('is read below the folder, links inside it included', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'rows.csv'), '\ufeffsku\na\n');
    symlinkSync('data/rows.csv', join(folder, 'rows.csv'));
    for (const path of ['data/rows.csv', './data/../rows.csv', 'rows.csv', join(folder, 'rows.csv')]) {
      expect(await readDataFile(folder, path), path).toEqual({ text: 'sku\na\n' });
    }
  });

  it('is never outside, hidden, or a link to such a file or to one of another kind', async () => {
    const outer = makeFolder();
    const folder = join(outer, 'campaign');
    mkdirSync(folder);
    mkdirSync(join(outer, 'campaign-evil'));
    writeFileSync(join(outer, 'secret.csv'), 'secret');
    writeFileSync(join(outer, 'campaign-evil', 'x.csv'), 'secret');
    symlinkSync('../secret.csv', join(folder, 'link.csv'));
    symlinkSync('..', join(folder, 'up'));
    symlinkSync('/proc/self/environ', join(folder, 'env.csv'));
    writeFileSync(join(folder, '.env'), 'KEY=secret\n');
    writeFileSync(join(folder, 'notes.txt'), 'a\n');
    symlinkSync('.env', join(folder, 'hidden.csv'));
    symlinkSync('notes.txt', join(folder, 'notes.csv'));
    const outside = [
      '../secret.csv',
      '../none.csv',
      '../campaign-evil/x.csv',
      '/etc/passwd',
      join(outer, 'secret.csv'),
    ];
    const within = ['link.csv', 'up/secret.csv', '.', 'env.csv', '.env', 'hidden.csv', 'notes.csv'];
    for (const path of [...outside, ...within])
      expect(await readDataFile(folder, path), path).toMatchObject({ problem: 'outside' });
  });

  it('is missing, not a file, too large or a link to itself', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'large.csv'), '');
    truncateSync(join(folder, 'large.csv'), 64 * 1024 ** 2 + 1);
    symlinkSync('nowhere.csv', join(folder, 'dangling.csv'));
    symlinkSync('circle.csv', join(folder, 'circle.csv'));
    expect(await readDataFile(folder, 'none.csv')).toEqual({ problem: 'missing' });
    expect(await readDataFile(folder, 'dangling.csv')).toEqual({ problem: 'missing' });
    expect(await readDataFile(folder, 'data')).toEqual({ problem: 'not-a-file', detail: 'it is a folder' });
    expect(await readDataFile(folder, 'large.csv')).toMatchObject({ problem: 'too-large' });
    expect(await readDataFile(folder, 'circle.csv')).toMatchObject({ problem: 'unreadable' });
  });
});

/** A campaign with pictures, hidden files and links, beside a folder that is none of its business. */
function makeAlbum(): string {
  const outer = makeFolder();
  const folder = join(outer, 'campaign');
  for (const path of ['out', 'campaign/photos/sub', 'campaign/photos/.cache', 'campaign/.git']) {
    mkdirSync(join(outer, path), { recursive: true });
  }
  const files = ['photos/b.jpg', 'photos/C.jpg', 'photos/a.jpg', 'photos/[x].jpg', 'photos/sub/c.jpg', 'photos/d.png'];
  const hidden = ['photos/.d.jpg', 'photos/.cache/e.jpg', '.git/f.jpg', '.env'];
  for (const path of [...files, ...hidden]) writeFileSync(join(folder, path), Buffer.from([0, 1, 2, 3, 4]));
  writeFileSync(join(outer, 'out', 'secret.jpg'), 'secret');
  symlinkSync('../out', join(folder, 'away'));
  symlinkSync('photos', join(folder, 'inside'));
  symlinkSync('../../out/secret.jpg', join(folder, 'photos', 'link.jpg'));
  symlinkSync('a.jpg', join(folder, 'photos', 'same.jpg'));
  symlinkSync('..', join(folder, 'photos', 'up'));
  return folder;
}

describe('files by a pattern', () => {
  it.each([
    ['photos/*.jpg', ['photos/C.jpg', 'photos/[x].jpg', 'photos/a.jpg', 'photos/b.jpg']],
    ['./photos/*.jpg', ['photos/C.jpg', 'photos/[x].jpg', 'photos/a.jpg', 'photos/b.jpg']],
    ['photos/**/*.jpg', ['photos/C.jpg', 'photos/[x].jpg', 'photos/a.jpg', 'photos/b.jpg', 'photos/sub/c.jpg']],
    ['photos/A*.JPG', ['photos/a.jpg']],
    ['photos/{A,D}.*', ['photos/a.jpg', 'photos/d.png']],
    ['photos/{a,d}.*', ['photos/a.jpg', 'photos/d.png']],
    ['photos/[[]x].jpg', ['photos/[x].jpg']],
    ['photos/*.gif', []],
    // With so many `*` that they are matched by another engine.
    ['./photos/*a*.*p*', ['photos/a.jpg']],
    ['photos/*[a-b]*.*p*', ['photos/a.jpg', 'photos/b.jpg']],
    ['photos/*[!a-b]*.*p*', ['photos/C.jpg', 'photos/[x].jpg', 'photos/d.png']],
    ['photos/*{a,d}*.*p?*', ['photos/a.jpg', 'photos/d.png']],
    ['{photos/sub,nowhere}/*.*p*g*', ['photos/sub/c.jpg']],
    ['**/sub/**/**/*.jpg', ['photos/sub/c.jpg']],
    ['*/*.*p*g*', ['photos/C.jpg', 'photos/[x].jpg', 'photos/a.jpg', 'photos/b.jpg', 'photos/d.png']],
    ['**/**/**/.*', []],
    ['away/*.*p*g*', []],
    ['*p*o*t*s*', []],
    ['nowhere/*.jpg', []],
  ])('%s', async (pattern, files) => {
    expect(await listFiles(makeAlbum(), pattern)).toEqual({ files });
  });

  it.each(['.*', '**/.*', '.git/*', '**/.cache/*', 'photos/{.cache,x}/*', 'away/*', 'inside/*', 'photos/up/**/c*'])(
    '%s finds nothing: it is hidden, or behind a link',
    async (pattern) => {
      expect(await listFiles(makeAlbum(), pattern)).toEqual({ files: [] });
    },
  );

  it.each(['../out/*.jpg', 'photos/../../out/*', '{..,photos}/*', '{../out,x}/*', '@(..)/out/*', '/etc/*', 'C:/*'])(
    '%s is outside',
    async (pattern) => {
      expect(await listFiles(makeAlbum(), pattern)).toMatchObject({ problem: 'outside' });
    },
  );

  it.each(['*a*a*a*a*a*a*a*a*a*a*b', `${'**/a/'.repeat(20)}b`, '{*a*a*a*a*a*a,*a*a*a*a*a*a*}b'])(
    '%s takes no longer than there are files',
    async (pattern) => {
      const folder = makeFolder();
      writeFileSync(join(folder, 'a'.repeat(200)), '');
      mkdirSync(join(folder, 'a/'.repeat(100)), { recursive: true });
      writeFileSync(join(folder, 'a/'.repeat(100), 'c'), '');
      expect(await listFiles(folder, pattern)).toEqual({ files: [] });
    },
  );

  it.each(['photos/*(a|aa)*(a|aa).jpg', 'photos/*a*b*{1..3}*', `photos/*${'{a'.repeat(2000)}*a*a*`])(
    '%.30s cannot be told in a time that is known',
    async (pattern) => {
      expect(await listFiles(makeAlbum(), pattern)).toMatchObject({ problem: 'unreadable' });
    },
  );
});

describe('the bytes of a file to upload', () => {
  it('are known by their digest', async () => {
    const known = { sha256: sha256(Buffer.from([0, 1, 2, 3, 4])), bytes: 5 };
    expect(await digestFile(makeAlbum(), 'photos/sub/c.jpg')).toEqual(known);
  });

  it.each([
    ['photos/none.jpg', 'the file does not exist'],
    ['photos/a.jpg/x', 'the file does not exist'],
    ['photos', 'it is a folder'],
    ['.env', 'it is a hidden file'],
    ['photos/.cache/e.jpg', 'it is a hidden file'],
    ['../out/secret.jpg', 'it is outside the folder of the manifest'],
    ['away/secret.jpg', 'a symbolic link leads to it'],
    ['photos/link.jpg', 'a symbolic link leads to it'],
    ['photos/same.jpg', 'a symbolic link leads to it'],
  ])('%s: %s', async (path, problem) => {
    expect(await digestFile(makeAlbum(), path)).toEqual({ problem });
  });

  it.each<[name: string, bytes: string, problem: string | undefined]>([
    ['a.jpg', '', 'it is empty'],
    ['a.jpg', '\0\0\0\x18ftypheic', 'its content is image/heic, but its name ends in .jpg'],
    ['a.JPG', 'ID3', 'its content is audio/mpeg, but its name ends in .JPG'],
    ['a.png', '<!DOCTYPE html><title>404', 'it is an HTML page, but its name ends in .png'],
    ['a.mp3', 'version https://git-lfs.github.com/spec/v1\n', 'it is a text, but its name ends in .mp3'],
    ['a.jpeg', '\xff\xd8\xff\xe0', undefined],
    ['a.m4a', '\0\0\0\x18ftypisom', undefined],
    ['a.txt', 'words', undefined],
  ])('%s with %j: %s', async (name, bytes, problem) => {
    const folder = makeFolder();
    writeFileSync(join(folder, name), bytes, 'latin1');
    const found = await digestFile(folder, name);
    expect('problem' in found ? found.problem : undefined).toBe(problem);
  });

  it('are at most 5 GiB', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'large.mp4'), '');
    truncateSync(join(folder, 'large.mp4'), 5 * 1024 ** 3 + 1);
    expect(await digestFile(folder, 'large.mp4')).toEqual({
      problem: 'the file has 5368709121 bytes, and at most 5368709120 are uploaded',
    });
  });
});
