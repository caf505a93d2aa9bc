import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readDataFile } from '../../../src/disk/inputs.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { createRequestBodies } from '../../../src/disk/state/request-bodies.ts';
import type { Output } from '../../../src/lock/record.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mediabatch-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

function crc(bytes: Buffer): number {
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
}

/** A whole picture of one pixel, different for each shade. */
function png(shade: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, shade]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function place(path: string, bytes: Buffer): Output {
  writeFileSync(join(root, path), bytes);
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length, type: 'image/png' };
}

const target = (save: string) => ({ address: save, save, media: 'image' as const, replaces: [], notice: () => {} });

describe('files that take each other’s names', () => {
  test.each([2, 3, 5])('%i files in a ring: all there, none twice, nothing left over', async (count) => {
    const saved = new SavedFiles();
    const outputs = createOutputs(root, { saved });
    const files = Array.from({ length: count }, (_, index) => place(`f${index}.png`, png(index)));
    for (const { path, sha256 } of files) await saved.note(path, sha256);
    const moved = await Promise.all(
      files.map((file, index) => outputs.relocate(target(`f${(index + 1) % count}`), file, { remove: true })),
    );
    expect(moved.map((output) => output?.path)).toEqual(files.map((_, index) => `f${(index + 1) % count}.png`));
    expect(readdirSync(root).sort()).toEqual(files.map(({ path }) => path).sort());
    files.forEach((_, index) => {
      expect(readFileSync(join(root, `f${(index + 1) % count}.png`))).toEqual(png(index));
    });
  });

  test('a file that is no media is nobody’s output, whatever a lock says', async () => {
    const code = place('index.js', Buffer.from('code'));
    expect(await createOutputs(root).relocate(target('taken'), code, { remove: true })).toBeUndefined();
    expect(readdirSync(root)).toEqual(['index.js']);
  });
});

describe('downloads', () => {
  test('a picture that is cut in its middle is refused, also when its length was announced honestly', async () => {
    const bytes = png(1).subarray(0, 40);
    const body = (async function* () {
      yield bytes;
    })();
    await expect(createOutputs(root).save(target('cut'), { body, bytes: bytes.length })).rejects.toThrow(
      /before the end/,
    );
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('a folder of state that came with somebody’s branch', () => {
  const state = () => join(root, '.mediabatch');

  test('a link as .gitignore is not written through', async () => {
    writeFileSync(join(root, 'precious'), 'mine');
    mkdirSync(state());
    symlinkSync('../precious', join(state(), '.gitignore'));
    await createRequestBodies(state()).keep('mb1-a', '{}');
    expect(readFileSync(join(root, 'precious'), 'utf8')).toBe('mine');
  });

  test.runIf(process.platform !== 'win32')(
    'links and pipes in place of a body are no bodies, at once (POSIX)',
    async () => {
      mkdirSync(join(state(), 'bodies'), { recursive: true });
      writeFileSync(join(root, 'other.json'), '{"prompt":"theirs"}');
      symlinkSync('../../other.json', join(state(), 'bodies/mb1-a.json'));
      execFileSync('mkfifo', [join(state(), 'bodies/mb1-b.json')]);
      const bodies = createRequestBodies(state());
      for (const key of ['mb1-a', 'mb1-b', 'mb1-c']) expect(await bodies.read(key)).toBeUndefined();
      for (const key of ['mb1-a', 'mb1-b']) await expect(bodies.keep(key, '{}')).rejects.toThrow(/not a plain file/);
      expect(readFileSync(join(root, 'other.json'), 'utf8')).toBe('{"prompt":"theirs"}');
    },
  );

  test('a linked folder is refused', async () => {
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync('elsewhere', state());
    await expect(createRequestBodies(state()).keep('mb1-a', '{}')).rejects.toThrow(/symbolic link/);
    expect(readdirSync(join(root, 'elsewhere')).filter((name) => name !== 'bodies')).toEqual([]);
  });

  test('a body is kept, read and dropped', async () => {
    const bodies = createRequestBodies(state());
    await bodies.keep('mb1-a', '{"a":1}');
    expect(await bodies.read('mb1-a')).toBe('{"a":1}');
    await bodies.drop('mb1-a');
    expect(await bodies.read('mb1-a')).toBeUndefined();
  });
});

describe('data files', () => {
  test('a link to a hidden file, or to a file of another kind, is no data', async () => {
    writeFileSync(join(root, '.env'), 'KEY=secret\n');
    writeFileSync(join(root, 'notes.txt'), 'a\n');
    writeFileSync(join(root, 'real.csv'), 'a\n1\n');
    symlinkSync('.env', join(root, 'data.csv'));
    symlinkSync('notes.txt', join(root, 'notes.csv'));
    symlinkSync('real.csv', join(root, 'linked.csv'));
    for (const name of ['data.csv', 'notes.csv', '.env']) {
      expect(await readDataFile(root, name)).toMatchObject({ problem: 'outside' });
    }
    expect(await readDataFile(root, 'linked.csv')).toEqual({ text: 'a\n1\n' });
  });
});
