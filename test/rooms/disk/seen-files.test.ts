import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { lstatOrAbsent } from '../../../src/disk/fs/plain-file.ts';
import { checkOutputs } from '../../../src/disk/outputs/check-outputs.ts';
import { StatCache } from '../../../src/disk/outputs/stat-cache.ts';
import { writeSealedFile } from '../../../src/disk/state/sealed-file.ts';
import { makeFolder } from '../../rig/folder.ts';
import { png } from './media.ts';
import { recorded, sha256 } from './targets.ts';

function place() {
  const root = makeFolder();
  const state = join(root, '.mediabatch');
  const path = join(root, 'a.png');
  writeFileSync(path, png);
  const open = (now?: () => number) => StatCache.open(state, join(root, 'campaign.lock.jsonl'), now);
  return { root, state, path, file: join(state, 'campaign.lock.jsonl.seen'), open };
}

const statsOf = (path: string) => lstatOrAbsent(path) ?? expect.fail(`no ${path}`);
/** A reading that began long after the file was last changed. */
const muchLater = () => Date.now() + 60_000;
const wrong = 'f'.repeat(64);

/** What is on record as seen, without anybody having read the file. */
async function seenAs(where: ReturnType<typeof place>, digest: string): Promise<StatCache> {
  const seen = await where.open();
  seen.note('a.png', statsOf(where.path), { sha256: digest, readAt: muchLater() });
  await seen.keep();
  return where.open();
}

test('a file that is as it was is not read again, in this process and in a later one', async () => {
  const where = place();
  const seen = await seenAs(where, wrong);
  // That it was not read can be told by the wrong digest.
  expect(seen.recall('a.png', statsOf(where.path))).toBe(wrong);
  const outputs = [{ ...recorded('a.png', png), sha256: wrong }];
  expect((await checkOutputs(where.root, outputs, { seen })).get('a.png')).toBe('intact');
  expect((await checkOutputs(where.root, outputs)).get('a.png')).toBe('changed');
  expect(seen.files).toEqual([{ path: 'a.png', bytes: png.length, sha256: wrong }]);
});

const otherBytes = Buffer.alloc(png.length, 1);
function overwriteWithOldDate(path: string): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(path, otherBytes);
  utimesSync(path, atime, mtime);
}

test.each<[string, (path: string) => void]>([
  ['other bytes of the same length', (path) => writeFileSync(path, otherBytes)],
  ['other bytes with the old date', overwriteWithOldDate],
  [
    'another file under its name',
    (path) => [writeFileSync(`${path}.new`, otherBytes), renameSync(`${path}.new`, path)],
  ],
  ['one byte more', (path) => writeFileSync(path, Buffer.concat([png, png.subarray(0, 1)]))],
])('%s is read again', async (_what, change) => {
  const where = place();
  const seen = await seenAs(where, sha256(png));
  change(where.path);
  expect(seen.recall('a.png', statsOf(where.path))).toBeUndefined();
  expect((await checkOutputs(where.root, [recorded('a.png', png)], { seen })).get('a.png')).toBe('changed');
});

test('a file that was changed just before it was read is read again: a second change could look like the first', async () => {
  const { root, path, open } = place();
  const seen = await open();
  await checkOutputs(root, [recorded('a.png', png)], { seen });
  expect(seen.recall('a.png', statsOf(path))).toBeUndefined();
  seen.note('a.png', statsOf(path), { sha256: wrong, readAt: statsOf(path).ctimeMs + 2000 });
  expect(seen.recall('a.png', statsOf(path))).toBeUndefined();
  seen.note('a.png', statsOf(path), { sha256: wrong, readAt: statsOf(path).ctimeMs + 3000 });
  expect(seen.recall('a.png', statsOf(path))).toBe(wrong);
  expect(seen.knowsAll(1)).toBe(true);
});

test('only what somebody asked about is kept, with what was made of it, and only when something is new', async () => {
  const where = place();
  const { file, open, path } = where;
  const first = await open();
  for (const name of ['a.png', 'b.png']) first.noteOwn(name, statsOf(path), wrong);
  await first.keep({ is: 'a finding' });
  const second = await open();
  expect([second.files.map((entry) => entry.path), second.finding]).toEqual([['a.png', 'b.png'], { is: 'a finding' }]);
  const before = statSync(file).ino;
  for (const name of ['a.png', 'b.png']) second.recall(name, statsOf(path));
  await second.keep();
  expect(statSync(file).ino).toBe(before);
  const third = await open();
  third.recall('a.png', statsOf(path));
  await third.keep();
  const last = await open();
  expect([last.files.map((entry) => entry.path), last.finding]).toEqual([['a.png'], undefined]);
});

test.each([
  ['nothing', undefined],
  ['half a file', '{"version":1,"files":{"a.pn'],
  ['another version', JSON.stringify({ version: 2, files: {} })],
])('%s in its place is as good as no knowledge', async (_what, text) => {
  const { state, file, open } = place();
  if (text !== undefined) await writeSealedFile(state, basename(file), text);
  const seen = await open();
  expect([seen.files, seen.finding]).toEqual([[], undefined]);
});

test('what somebody else wrote, in the right form, is as good as no knowledge', async () => {
  const { state, file, open } = place();
  const text = JSON.stringify({ version: 1, finding: { is: 'theirs' }, files: { 'a.png': [1, 2, 3, 4, wrong] } });
  await writeSealedFile(state, basename(file), text);
  expect((await open()).finding).toEqual({ is: 'theirs' });
  writeFileSync(file, text);
  const seen = await open();
  expect([seen.files, seen.finding]).toEqual([[], undefined]);
});

test('a link in its place is neither read nor written, and nothing fails', async () => {
  const { root, state, path, file, open } = place();
  mkdirSync(state);
  const other = join(root, 'other');
  writeFileSync(other, JSON.stringify({ version: 1, files: { 'a.png': [1, 2, 3, 4, wrong] } }));
  symlinkSync(other, file);
  const before = readFileSync(other, 'utf8');
  const seen = await open();
  expect(seen.files).toEqual([]);
  seen.noteOwn('a.png', statsOf(path), wrong);
  await seen.keep();
  expect(readFileSync(other, 'utf8')).toBe(before);
});

test('a file system with a clock that is not ours is not gone by', async () => {
  const { path, file, open } = place();
  for (const offMs of [-10_000, 10_000]) {
    const seen = await open(() => Date.now() + offMs);
    seen.noteOwn('a.png', statsOf(path), wrong);
    await seen.keep();
    expect(existsSync(file)).toBe(false);
  }
});

test('a file that changed while it was read is not known, although it was known before', async () => {
  const where = place();
  const seen = await seenAs(where, wrong);
  expect(seen.recall('a.png', statsOf(where.path))).toBe(wrong);
  expect(seen.knowsAll(1)).toBe(true);
  writeFileSync(where.path, Buffer.alloc(png.length, 1));
  const stats = statsOf(where.path);
  seen.note('a.png', stats, { sha256: wrong, readAt: stats.ctimeMs + 1 });
  expect([seen.recall('a.png', stats), seen.knowsAll(1)]).toEqual([undefined, false]);
});
