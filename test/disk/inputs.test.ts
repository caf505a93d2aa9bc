import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDataFile, readManifestText } from '../../src/disk/inputs.ts';
import { makeFolder } from './folder.ts';
import { has } from './tools.ts';

describe('a manifest', () => {
  it('is read without its byte order mark, also through a link', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'campaign.yaml'), '\ufeffname: ü\r\n');
    symlinkSync('campaign.yaml', join(folder, 'link.yaml'));
    expect(await readManifestText(join(folder, 'campaign.yaml'))).toEqual({ text: 'name: ü\r\n' });
    expect(await readManifestText(join(folder, 'link.yaml'))).toEqual({ text: 'name: ü\r\n' });
  });

  it('is missing, a folder, too large or not UTF-8', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'large.yaml'), '');
    truncateSync(join(folder, 'large.yaml'), 1024 ** 2 + 1);
    writeFileSync(join(folder, 'latin1.yaml'), Buffer.from('name: x\nb: caf\xe9\n', 'latin1'));
    writeFileSync(join(folder, 'file'), '');
    const problemOf = async (name: string) => {
      const read = await readManifestText(join(folder, name));
      return 'problem' in read ? read : undefined;
    };
    expect(await problemOf('none.yaml')).toMatchObject({ problem: 'missing' });
    expect(await problemOf('file/none.yaml')).toMatchObject({ problem: 'missing' });
    expect(await problemOf('.')).toMatchObject({ problem: 'folder' });
    expect(await problemOf('large.yaml')).toEqual({
      problem: 'too-large',
      detail: 'it has 1048577 bytes, and at most 1048576 are read',
    });
    expect(await problemOf('latin1.yaml')).toEqual({
      problem: 'not-utf8',
      detail: 'line 2 is not UTF-8 text; save the file as UTF-8',
    });
  });

  it.runIf(has.linux)('is not waited for when it is a pipe that nobody writes (Linux)', async () => {
    const path = join(makeFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    expect(await readManifestText(path)).toEqual({ problem: 'unreadable', detail: 'it is a device or a pipe' });
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

  it('is never outside, whether it exists there or not', async () => {
    const outer = makeFolder();
    const folder = join(outer, 'campaign');
    mkdirSync(folder);
    mkdirSync(join(outer, 'campaign-evil'));
    writeFileSync(join(outer, 'secret.csv'), 'secret');
    writeFileSync(join(outer, 'campaign-evil', 'x.csv'), 'secret');
    symlinkSync('../secret.csv', join(folder, 'link.csv'));
    symlinkSync('..', join(folder, 'up'));
    symlinkSync('/proc/self/environ', join(folder, 'env.csv'));
    const outside = [
      '../secret.csv',
      '../none.csv',
      '../campaign-evil/x.csv',
      '/etc/passwd',
      join(outer, 'secret.csv'),
      'link.csv',
      'up/secret.csv',
      '.',
      'env.csv',
    ];
    for (const path of outside) expect(await readDataFile(folder, path), path).toMatchObject({ problem: 'outside' });
  });

  it('is missing, not a file, too large or not readable as text', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'large.csv'), '');
    truncateSync(join(folder, 'large.csv'), 64 * 1024 ** 2 + 1);
    writeFileSync(join(folder, 'latin1.csv'), Buffer.from([0xe9, 0x0a]));
    symlinkSync('nowhere.csv', join(folder, 'dangling.csv'));
    symlinkSync('circle.csv', join(folder, 'circle.csv'));
    expect(await readDataFile(folder, 'none.csv')).toEqual({ problem: 'missing' });
    expect(await readDataFile(folder, 'dangling.csv')).toEqual({ problem: 'missing' });
    expect(await readDataFile(folder, 'data')).toEqual({ problem: 'not-a-file', detail: 'it is a folder' });
    expect(await readDataFile(folder, 'large.csv')).toMatchObject({ problem: 'too-large' });
    expect(await readDataFile(folder, 'circle.csv')).toMatchObject({ problem: 'unreadable' });
    expect(await readDataFile(folder, 'latin1.csv')).toEqual({
      problem: 'unreadable',
      detail: 'line 1 is not UTF-8 text; save the file as UTF-8',
    });
  });
});
