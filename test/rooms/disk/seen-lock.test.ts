import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openLockFile } from '../../../src/disk/lock/lock-file.ts';
import { compareWithSeen, LinesDigest, readSeenLock, seenLockPath } from '../../../src/disk/lock/seen-lock.ts';
import { makeFolder } from './folder.ts';

const header = '{"header":1}\n';

function seenOf(text: string, pieces = 1) {
  const digest = new LinesDigest();
  const bytes = Buffer.from(text);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let at = 0; at < bytes.length; at += size) digest.update(bytes.subarray(at, at + size));
  return digest.seen;
}

const texts = fc
  .array(
    fc.string({ unit: 'binary-ascii', maxLength: 12 }).map((line) => line.replace(/[\n\0]/g, '')),
    { minLength: 1, maxLength: 60 },
  )
  .map((lines) => lines.map((line) => `${line}.\n`).join(''));

it('recognizes each part of a file, also with zero bytes in the place of the rest', () => {
  fc.assert(
    fc.property(texts, fc.nat(), fc.nat(4), fc.boolean(), (text, at, pieces, isZeroed) => {
      const left = at % (text.length - 1);
      const zeros = isZeroed ? '\0'.repeat(text.length - left) : '';
      expect(compareWithSeen(Buffer.from(text.slice(0, left) + zeros), seenOf(text, pieces + 1))).toBe('cut');
    }),
  );
});

it('takes what was appended for an append, whatever became of it', () => {
  fc.assert(
    fc.property(texts, texts, fc.nat(), fc.boolean(), (text, more, at, isZeroed) => {
      const tail = isZeroed ? '\0'.repeat(at % 50) : more.slice(0, at % more.length);
      expect(compareWithSeen(Buffer.from(text + tail), seenOf(text))).toBe('grown');
    }),
  );
  expect(compareWithSeen(Buffer.from('a\nb'), seenOf('a\nb\n'))).toBe('grown');
});

it.each([
  ['a line was changed', '1\n9\n3333\n'],
  ['a line was taken out', '1\n3333\n'],
  ['a line was added', '1\n2\n22\n3333\n'],
  ['the last lines are others', '1\n2\n9999\n'],
  ['the last line is another, and shorter', '1\n2\n99\n'],
  ['the last line is another, and cut', '1\n9\n2'],
])('takes it for another file when %s', (_how, text) => {
  expect(compareWithSeen(Buffer.from(text), seenOf('1\n2\n3333\n'))).toBe('other');
});

it.each([
  ['other line ends', (text: string) => text.replaceAll('\n', '\r\n')],
  ['a byte order mark', (text: string) => `\ufeff${text}`],
  ['blank ends', (text: string) => `${text}\n \n`],
  ['a line end', (text: string) => (text.endsWith('\n') ? text : `${text}\n`)],
])('knows it and each part of it with %s', (_what, change) => {
  const seen = seenOf('aa\nbb\ncc\n');
  expect(compareWithSeen(Buffer.from(change('aa\nbb\ncc\n')), seen)).toBe('grown');
  for (const part of ['aa\nbb\nc', 'aa\nbb\n', 'aa\nb', 'aa\n'])
    expect(compareWithSeen(Buffer.from(change(part)), seen), part).toBe('cut');
});

it('keeps few digests of many lines, and still knows a part of them', () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index}\n`);
  const seen = seenOf(lines.join(''), 7);
  expect(seen.beginnings.length).toBeLessThanOrEqual(512);
  for (const count of [1, 63, 9_999, 19_999]) {
    expect(compareWithSeen(Buffer.from(lines.slice(0, count).join('')), seen)).toBe('cut');
    const other = ['x\n', ...lines.slice(1, count)].join('');
    if (count > seen.every) expect(compareWithSeen(Buffer.from(other), seen)).toBe('other');
  }
});

it('is what was there when the first line was appended, then what was written in its place', async () => {
  const path = join(makeFolder(), 'campaign.lock.jsonl');
  const first = await openLockFile(path, { header });
  expect(await readSeenLock(path)).toBeUndefined();
  await first.append('{"a":1}\n');
  expect(await readSeenLock(path)).toMatchObject({ bytes: 0 });
  await first.replace([header, '{"b":1}\n', '{"c":1}\n']);
  await first.append('{"d":1}\n');
  const finished = seenOf(`${header}{"b":1}\n{"c":1}\n`);
  expect(await readSeenLock(path)).toEqual(JSON.parse(JSON.stringify(finished)));
  await first.close();
  writeFileSync(path, `${header}{"from git":1}\n`);
  const second = await openLockFile(path, { header });
  await second.append('{"e":1}\n');
  await second.close();
  expect(await readSeenLock(path)).toMatchObject({ bytes: header.length + 15 });
});

it('counts for nothing when somebody else has written it', async () => {
  const path = join(makeFolder(), 'campaign.lock.jsonl');
  const file = await openLockFile(path, { header });
  await file.replace([header]);
  await file.close();
  writeFileSync(seenLockPath(path), JSON.stringify(seenOf('a\nb\n')));
  expect(await readSeenLock(path)).toBeUndefined();
});
