import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { unpack } from '../../../src/page/gallery/unpack.ts';
import { GalleryFolder } from '../../../src/review/gallery/gallery-folder.ts';
import { folderHtml, pack, safeInHtml, singleHtml } from '../../../src/review/gallery/gallery-html.ts';
import { holdGallery } from '../../../src/review/gallery/make-gallery.ts';
import { SingleFile } from '../../../src/review/gallery/single-file.ts';
import { anyCharacter } from '../../rig/any-character.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { asset, campaign, file } from '../../rig/review/campaign.ts';

function folderHere(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  return path;
}

describe('the page', () => {
  const nasty = [
    '</script><script>alert(1)</script>',
    '<!--<script>',
    '-->',
    '\u2028\u2029',
    '"\'&<img src=x onerror=alert(1)>',
  ];

  test('property: no text gets out of the block of data, and it comes back as it was', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...nasty)), { maxLength: 4 }),
        (texts) => {
          const text = safeInHtml(JSON.stringify(texts));
          expect(text).not.toMatch(/[<>\u2028\u2029]/);
          expect(JSON.parse(text)).toEqual(texts);
        },
      ),
    );
  });

  test('property: what is packed is the same when it is unpacked', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.array(fc.constantFrom(...nasty, 'a text that is repeated')),
        (values, texts) => {
          const assets = [...values, ...texts].map((value) => asset('hero@a', { request: { value: value as string } }));
          const data = campaign([{ name: 'hero@a', assets }]);
          const plain = JSON.parse(JSON.stringify(data));
          expect(unpack(JSON.parse(JSON.stringify(pack(plain))))).toEqual(plain);
        },
      ),
    );
  });

  test('names the campaign as a text, and lets nothing run but its own scripts', () => {
    const data = campaign([], { campaign: nasty.join('') });
    const html = folderHtml(data);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html).toContain("default-src 'none'");
    const single = singleHtml(data, { script: 'const a = "</script><!--<script>";', styles: 'body{}' });
    expect(single.match(/<script/g)).toHaveLength(2);
    expect(single).toMatch(/script-src 'sha256-[\w+/]{43}='; style-src 'sha256-/);
  });
});

describe('a folder', () => {
  const bytes = Buffer.from('picture');
  const thumb = `thumbs/${'a'.repeat(20)}.jpg`;

  test('is a page that waits until the gallery is whole, and keeps what has not changed', async () => {
    const path = join(folderHere(), 'a.report');
    const first = await GalleryFolder.open(path, path);
    expect(readFileSync(join(path, 'index.html'), 'utf8')).toContain('is being written');
    await first.put(thumb, bytes);
    await first.finish('<!doctype html>\n<!-- mediabatch report -->\none');
    const inode = () => statSync(join(path, thumb)).ino;
    const before = inode();
    const second = await GalleryFolder.open(path, path);
    // Whoever opens it now still sees all of the old one.
    expect(readFileSync(join(path, 'index.html'), 'utf8')).toContain('one');
    await second.put(thumb, bytes);
    expect(inode()).toBe(before);
    await second.put(thumb, Buffer.from('another'));
    expect(readFileSync(join(path, thumb), 'utf8')).toBe('another');
    expect(readdirSync(path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('loses what no page shows any more, and nothing of anybody else', async () => {
    const path = join(folderHere(), 'a.report');
    const first = await GalleryFolder.open(path, path);
    await first.put(thumb, bytes);
    await first.copy('media/lamp-0123456789ab.png', join(path, thumb), 'x');
    await first.finish('<!doctype html>\n<!-- mediabatch report -->\none');
    for (const name of ['thumbs/mine.jpg', 'notes.txt', 'media/mine.png']) writeFileSync(join(path, name), 'mine');
    const left = ['', 'thumbs/', 'media/'].map((where) => `${where}.mediabatch-${'0'.repeat(16)}.tmp`);
    for (const name of left) writeFileSync(join(path, name), 'of one that was killed');
    await (await GalleryFolder.open(path, path)).finish('<!doctype html>\n<!-- mediabatch report -->\ntwo');
    const isThere = (name: string) => existsSync(join(path, name));
    expect(['thumbs/mine.jpg', 'notes.txt', 'media/mine.png'].map(isThere)).toEqual([true, true, true]);
    expect([thumb, 'media/lamp-0123456789ab.png', ...left].filter(isThere)).toEqual([]);
  });

  test('is written by one report at a time', async () => {
    const [folder, state] = [folderHere(), join(folderHere(), '.mediabatch')];
    const place = { path: join(folder, 'a.report'), shown: 'a.report' };
    const release = await holdGallery(state, place);
    await expect(holdGallery(state, place)).rejects.toThrow(
      `the gallery a.report is being written by another report: process ${process.pid} on `,
    );
    const other = await holdGallery(state, { path: join(folder, 'b.report'), shown: 'b.report' });
    await release();
    await (await holdGallery(state, place))();
    await other();
    expect(readdirSync(state)).toEqual(['.gitignore']);
    // Where nothing can be kept, nobody is held off.
    await (await holdGallery(join(folder, 'none/.mediabatch'), place))();
  });

  test('of somebody else, a file, or one behind a link that leads out is refused', async () => {
    const folder = folderHere();
    mkdirSync(join(folder, 'mine'));
    writeFileSync(join(folder, 'mine/index.html'), '<!doctype html>\n<p>mine');
    await expect(GalleryFolder.open(join(folder, 'mine'), 'mine')).rejects.toThrow('not a gallery written by report');
    expect(readFileSync(join(folder, 'mine/index.html'), 'utf8')).toContain('mine');
    await expect(GalleryFolder.open(join(folder, 'mine/index.html'), 'x')).rejects.toThrow('is a file');
    mkdirSync(join(folder, 'tree/.git'), { recursive: true });
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'tree/a.report'));
    await expect(GalleryFolder.open(join(folder, 'tree/a.report'), 'a.report')).rejects.toThrow('leads out of');
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
  });
});

test('a single file is never larger than 20 MB, and then nothing is written', async () => {
  const path = join(folderHere(), 'a.html');
  await expect(SingleFile.open(join(folderHere(), 'a.pdf'), 'a.pdf')).rejects.toThrow('does not end as a page does');
  const single = await SingleFile.open(path, 'a.html');
  const shown = file(1);
  const one = { path: '/a.png', file: shown, mentions: [shown, shown] };
  await single.add(one, Buffer.alloc(4 << 20));
  await expect(single.add(one, Buffer.alloc(4 << 20))).rejects.toThrow('a.html would be larger than 20 MB');
  expect(existsSync(path)).toBe(false);
});
