import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { deliverFile } from '../../src/disk/outputs/relocate-output.ts';
import { BucketStandIn } from '../rig/bucket-stand-in.ts';
import { bin, command, expectExit, temporaryFolder } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { runInProcess } from './in-process.ts';

const manifest = `version: 1
name: handed-over
tasks:
  pic:
    kind: image
    foreach: rows.csv
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "16:9"] }
    with: { prompt: "{{row.name}}", aspectRatio: "{{matrix.ratio}}", resolution: 1k }
  draft: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: a draft, resolution: 1k } }
`;

let bought = '';
beforeAll(async () => {
  const { path, remove } = temporaryFolder();
  bought = path;
  writeFileSync(join(path, 'campaign.yaml'), manifest);
  writeFileSync(join(path, 'rows.csv'), 'sku,name\na,lamp\nb,vase\n');
  const apply = ['apply', '--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10'];
  await expectExit(0, command(apply, { cwd: path }));
  await command(['pick', 'draft/2', '--sandbox'], { cwd: path });
  return remove;
});

/** A copy of the campaign as it was bought. */
function campaign() {
  const folder = makeFolder();
  cpSync(bought, folder, { recursive: true });
  const run = (...words: string[]) => runInProcess(['deliver', 'campaign.yaml', '--sandbox', ...words], {}, folder);
  return { folder, run, to: join(folder, 'handed') };
}

/** Everything below a folder, with the digests of the files. */
function contentOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return `${path.slice(folder.length)} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
    })
    .sort();
}

const byRow = ['--layout', '{{row.sku}}/{{slug matrix.ratio}}', '-s', 'pic'];

describe('deliver', () => {
  test('copies files with the same bytes into one folder at the same time', async () => {
    const root = makeFolder();
    const source = join(root, 'source');
    writeFileSync(source, 'the same');
    const sha256 = createHash('sha256').update('the same').digest('hex');
    const names = Array.from({ length: 8 }, (_, index) => `all/${index}.png`);
    const copies = await Promise.all(names.map((name) => deliverFile(source, { root, name, sha256 })));
    expect(copies).toEqual(names.map(() => true));
    expect(readdirSync(join(root, 'all'))).toEqual(names.map((name) => name.slice(4)));
  });

  test('copies selected files under custom names with a list, once', async () => {
    const { folder, run, to } = campaign();
    const first = await run('--to', 'handed', ...byRow);
    expect(first, first.err).toMatchObject({ code: 0, err: expect.stringContaining('copied 4 files') });
    const there = contentOf(to);
    expect(there.map((line) => line.split(' ')[0])).toEqual([
      '/a/1-1.png',
      '/a/16-9.png',
      '/b/1-1.png',
      '/b/16-9.png',
      '/outputs.csv',
    ]);
    const list = readFileSync(join(to, 'outputs.csv'), 'utf8');
    expect(list).toMatch(/\r\nb,vase,16:9,pic,image,b,,b\/16-9\.png,image\/png,[0-9a-f]{64},/);
    expect(list).not.toMatch(/credits|prompt|job|verdict|note|address/);
    for (const line of there.slice(0, 4)) expect(list).toContain(line.split(' ')[1]);
    expect((await run('--to', 'handed', ...byRow)).err).toContain('copied 0 files, 4 already copied');
    expect(contentOf(to)).toEqual(there);
    expect(existsSync(join(folder, 'campaign.sandbox/output/pic-a-1-1.png'))).toBe(true);
    await run('--to', 'handed', ...byRow, '--format', 'csv-semicolon');
    expect(readFileSync(join(to, 'outputs.csv'), 'utf8')).toMatch(/\r\nb;vase;16:9;pic;image;b;;b\/16-9\.png;image/);
    // The digests of that list recognize the own copies, too.
    expect((await run('--to', 'handed', ...byRow)).err).toContain('copied 0 files, 4 already copied');
  });

  test('keeps the lines of earlier deliveries whose files still exist', async () => {
    const { run, to } = campaign();
    await run('--to', 'handed', ...byRow);
    rmSync(join(to, 'a/1-1.png'));
    writeFileSync(join(to, 'a/16-9.png'), 'another');
    await run('--to', 'handed', '-s', 'draft', '--picked', '--layout', '{{task}}');
    const lines = readFileSync(join(to, 'outputs.csv'), 'utf8').split('\r\n');
    expect(lines.map((line) => /[^,]+\.png/.exec(line)?.[0])).toEqual([
      ...[undefined, 'b/1-1.png', 'b/16-9.png', 'draft.png'],
      undefined,
    ]);
    expect(lines[2]).toMatch(/^b,vase,16:9,pic,/);
  });

  test('--picked lists undecided groups and exits with 5', async () => {
    const { folder, run } = campaign();
    await expectExit(0, command(['pick', 'draft/2', '--undo', '--sandbox'], { cwd: folder }));
    const { code, err } = await run('--to', 'handed', '--picked');
    expect(code).toBe(5);
    expect(err).toContain('copied 4 files');
    expect(err).toContain('not copied, because the gates are undecided: 1 group: draft\n');
    expect((await run('--to', 'handed', '--picked', '-s', 'pic')).code).toBe(0);
  });

  test.each<[string, string[], RegExp]>([
    ['two files of one name', ['--layout', '{{task}}'], /pic@a,1:1 and pic@a,16:9 would both be saved as pic\.png/],
    ['names that differ in case only', ['--layout', '{{#if (eq key "a")}}X{{else}}x{{/if}}'], /would both be saved as/],
    ['an unknown name', ['--layout', '{{vars.x}}'], /`vars\.x` is unknown in a layout[\s\S]*may use row, matrix/],
    ['a column that a step does not have', ['--layout', '{{row.colour}}'], /for pic@a,1:1/],
    ['a path out of the folder', ['--layout', '../{{path}}'], /leaves the folder/],
    ['an invalid template', ['--layout', '{{row.sku'], /--layout: /],
  ])('copies nothing where %s', async (_what, words, about) => {
    const { run, to } = campaign();
    const { code, err } = await run('--to', 'handed', ...words);
    expect(code).toBe(64);
    expect(err).toMatch(about);
    expect(existsSync(to)).toBe(false);
  });

  test('copies nothing if a file is missing, a file blocks the path, or the path has a link', async () => {
    const { folder, run, to } = campaign();
    mkdirSync(to);
    mkdirSync(join(to, 'b'));
    writeFileSync(join(to, 'b/16-9.png'), 'mine');
    const other = await run('--to', 'handed', ...byRow);
    expect(other).toMatchObject({
      code: 73,
      err: expect.stringContaining('handed already contains a file with this name'),
    });
    expect(contentOf(to)).toHaveLength(1);
    rmSync(to, { recursive: true });
    mkdirSync(to);
    writeFileSync(join(to, 'outputs.csv'), 'sku,name\n');
    expect((await run('--to', 'handed', ...byRow)).err).toContain('is not a list of outputs');
    expect(contentOf(to)).toHaveLength(1);
    rmSync(join(to, 'outputs.csv'));
    mkdirSync(join(folder, 'away'));
    symlinkSync(join(folder, 'away'), join(to, 'a'));
    expect((await run('--to', 'handed', ...byRow)).code).toBe(73);
    expect(readdirSync(join(folder, 'away'))).toEqual([]);
    rmSync(join(to, 'a'));
    rmSync(join(folder, 'campaign.sandbox/output/pic-b-16-9.png'));
    const away = await run('--to', 'handed', ...byRow);
    expect(away.err).toMatch(
      /a file is missing or changed on this machine: output\/pic-b-16-9\.png[\s\S]*apply campaign\.yaml.* --sandbox/,
    );
    expect(contentOf(to)).toEqual([]);
  });

  test('requires a folder', async () => {
    const { run } = campaign();
    expect((await run()).err).toContain('--to is missing');
    expect((await run('--to', 'ftp://shop/spring')).err).toContain('to a folder or to s3://');
    expect((await run('--to', 's3://SHOP')).err).toContain('names no bucket');
    const hidden = await run('--to', 'handed/../.git/x');
    expect(hidden).toMatchObject({ code: 73, err: expect.stringContaining('the path has the hidden part .git') });
  });

  test('copies files to a bucket once, and changes no other object', async () => {
    const bucket = await BucketStandIn.start();
    const { folder } = campaign();
    const env = Object.fromEntries(Object.entries(bucket.env).map(([name, value]) => [name, value ?? '']));
    const words = ['deliver', 'campaign.yaml', '--sandbox', '--to', 's3://shop/spring', ...byRow];
    const run = () => command(words, { cwd: folder, env });
    const first = await run();
    expect(first, first.err).toMatchObject({ code: 0, err: expect.stringContaining('copied 4 files') });
    const names = ['a/1-1.png', 'a/16-9.png', 'b/1-1.png', 'b/16-9.png', 'outputs.csv'];
    const keys = () => [...bucket.objects.keys()].map((key) => key.slice(key.indexOf('spring/') + 7)).sort();
    expect(keys()).toEqual(names);
    expect((await run()).err).toContain('copied 0 files, 4 already copied');
    for (const [key, stored] of bucket.objects) {
      if (key.endsWith('b/1-1.png')) bucket.objects.set(key, { ...stored, headers: {}, bytes: Buffer.from('mine') });
    }
    const other = await run();
    expect(other).toMatchObject({ code: 73, err: expect.stringContaining('b/1-1.png') });
    expect(keys()).toEqual(names);
  });

  test('replaces earlier copies after a new pick, but never foreign files', async () => {
    const { folder, run, to } = campaign();
    const take = (number: number) =>
      contentOf(join(folder, 'campaign.sandbox/output'))
        .find((line) => line.startsWith(`/draft-${number}`))
        ?.split(' ')[1];
    const there = () =>
      contentOf(to)
        .find((line) => line.startsWith('/draft.png'))
        ?.split(' ')[1];
    const words = ['--to', 'handed', '--picked', '-s', 'draft', '--layout', '{{task}}'];
    const pick = (name: string) => runInProcess(['pick', 'campaign.yaml', name, '--sandbox'], {}, folder);
    await run(...words);
    expect(there()).toBe(take(2));
    const list = readFileSync(join(to, 'outputs.csv'));
    await pick('draft/1');
    expect((await run(...words, '--dry-run')).err).toContain('1 file to copy, 1 replacing an earlier copy');
    expect((await run(...words)).err).toContain('copied 1 file, 1 replacing an earlier copy');
    expect(there()).toBe(take(1));
    // Cut off before the list was written, and picked otherwise since: the lock knows the copy.
    writeFileSync(join(to, 'outputs.csv'), list);
    await pick('draft/2');
    expect((await run(...words)).code).toBe(0);
    expect(there()).toBe(take(2));
    writeFileSync(join(to, 'draft.png'), 'mine');
    await pick('draft/1');
    expect(await run(...words)).toMatchObject({
      code: 73,
      err: expect.stringContaining('this campaign replaces only files that it delivered itself'),
    });
    expect(readFileSync(join(to, 'draft.png'), 'utf8')).toBe('mine');
  });

  test.each(['an empty folder', 'earlier copies'])(
    'killed at any moment over %s and run again: the same bytes, one list, no leftovers',
    async (over) => {
      const whole = campaign();
      await whole.run('--to', 'handed');
      const expected = contentOf(whole.to);
      const { folder, run, to } = campaign();
      mkdirSync(join(to, 'output'), { recursive: true });
      if (over === 'earlier copies') {
        // Nothing but their list tells whose they are.
        let list = readFileSync(join(whole.to, 'outputs.csv'), 'utf8');
        for (const [name = '', digest = ''] of expected.map((line) => line.slice(1).split(' '))) {
          if (name === 'outputs.csv') continue;
          writeFileSync(join(to, name), `${name} as it was`);
          list = list.replace(digest, createHash('sha256').update(`${name} as it was`).digest('hex'));
        }
        writeFileSync(join(to, 'outputs.csv'), list);
      }
      const words = [bin, 'deliver', 'campaign.yaml', '--sandbox', '--to', 'handed'];
      const child = spawn(process.execPath, words, { cwd: folder, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('close', resolve));
      const hasBegun = () => readdirSync(join(to, 'output')).some((name) => name.endsWith('.part'));
      for (const until = Date.now() + 20_000; Date.now() < until; ) {
        if (hasBegun() || child.exitCode !== null) break;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      child.kill('SIGKILL');
      await ended;
      const digest = createHash('sha256').update('output/pic-b-16-9.png');
      rmSync(join(to, 'output/pic-b-16-9.png'), { force: true });
      writeFileSync(join(to, `output/.mediabatch-${digest.digest('hex').slice(0, 16)}.part`), 'half');
      await expectExit(0, run('--to', 'handed'));
      expect(contentOf(to)).toEqual(expected);
    },
  );
});
