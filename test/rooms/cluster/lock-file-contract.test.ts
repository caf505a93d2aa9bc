import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLines, readAllLines } from '../../../src/cluster/leader/rows.ts';
import type { LockFile } from '../../../src/contract/ports.ts';
import { openLockFile } from '../../../src/disk/lock/lock-file.ts';
import { makeFolder } from '../../rig/folder.ts';
import { openFresh } from '../../rig/postgres.ts';
import { bareRun } from './engine-here.ts';

/** A home of a lock's lines: both are held to the same. */
interface Home {
  file: LockFile;
  /** What a reader finds now, without the header. */
  read(): Promise<string[]>;
  /** From here on the lines belong to another. */
  loseTo(): Promise<void>;
}

async function inFile(): Promise<Home> {
  const path = join(makeFolder(), 'lock.jsonl');
  const file = await openLockFile(path, { header: '{"header":1}\n' });
  onTestFinished(() => file.close());
  return {
    file,
    read: async () => {
      try {
        const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
        return lines.filter((line) => line !== '{"header":1}\n');
      } catch {
        return [];
      }
    },
    loseTo: async () => {
      const before = readFileSync(path);
      rmSync(path);
      writeFileSync(path, before);
    },
  };
}

async function inSql(): Promise<Home> {
  const { database } = await openFresh();
  return {
    file: openLines(database, await bareRun(database)),
    read: async () => await readAllLines(database, 'r'),
    loseTo: async () => void (await database.query("UPDATE mediabatch.account SET epoch = 2 WHERE id = 'a'")),
  };
}

const line = (n: number) => `{"line":${n}}\n`;
const many = Array.from({ length: 500 }, (_, n) => line(n));

describe.each([
  ['in a file', inFile],
  ['in SQL', inSql],
])('lines %s', (_, open) => {
  test('are there when the promise resolves', async () => {
    const { file, read } = await open();
    for (const n of [1, 2, 3]) {
      await file.append(line(n));
      expect((await read()).at(-1)).toBe(line(n));
    }
  });

  test('keep the order in which they came, however many wait', async () => {
    const { file, read } = await open();
    await Promise.all(many.map((one) => file.append(one)));
    expect(await read()).toEqual(many);
  });

  test('are refused once they belong to another, and everything after that', async () => {
    const { file, read, loseTo } = await open();
    await file.append(line(1));
    await loseTo();
    const later = await Promise.allSettled([file.append(line(2)), file.append(line(3))]);
    expect(later.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(file.append(line(4))).rejects.toThrow();
    // A file that was put in place of ours is somebody else’s; what went into the other one does not count.
    expect(await read()).toEqual([line(1)]);
  });

  test('are replaced as a whole, and grow from there', async () => {
    const { file, read } = await open();
    await Promise.all(many.map((one) => file.append(one)));
    await file.replace([line(7), line(8)]);
    await file.append(line(9));
    expect((await read()).filter((one) => one !== '')).toEqual([line(7), line(8), line(9)]);
  });

  test('are refused when they are closed, and when they are not one line', async () => {
    const { file } = await open();
    await file.append(line(1));
    expect(() => file.append('{"a":\n1}\n')).toThrow('not exactly one lock line');
    await file.close();
    await expect(file.append(line(2))).rejects.toThrow('closed');
  });
});
