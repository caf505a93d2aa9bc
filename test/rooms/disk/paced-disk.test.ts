import { closeSync, openSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PacedDisk } from '../../../src/disk/fs/paced-disk.ts';
import { makeFolder } from './folder.ts';

/** A clock by which so much time passes between two looks. */
function clockOf(step: { ms: number }) {
  let now = 0;
  return { now: () => (now += step.ms), pass: (ms: number) => (now += ms) };
}

test('a quick disk is written to at once; one that makes its users wait gets threads, and is tried again', async () => {
  const path = join(makeFolder(), 'file');
  const handle = await open(path, 'w');
  const each = { ms: 1.9 };
  const clock = clockOf(each);
  const disk = new PacedDisk(clock.now);
  let expected = '';
  let count = 0;
  const write = async () => {
    const text = `${count++},`;
    expected += text;
    const written = disk.write(handle.fd, Buffer.from(text));
    await written;
    return written === undefined ? 'at once' : 'by a thread';
  };
  for (let index = 0; index < 1000; index += 1) expect(await write()).toBe('at once');
  each.ms = 80;
  const slow = [await write(), await write(), await write(), await write(), await write()];
  expect(slow).toEqual(['at once', 'at once', 'at once', 'by a thread', 'by a thread']);
  clock.pass(5000);
  each.ms = 1.9;
  for (let index = 0; index < 100; index += 1) expect(await write()).toBe('at once');
  await handle.close();
  expect(readFileSync(path, 'utf8')).toBe(expected);
});

test('what the system says is told, at once and by a thread', async () => {
  const path = join(makeFolder(), 'file');
  closeSync(openSync(path, 'w'));
  const handle = await open(path, 'r');
  const times = [0, 210];
  const disk = new PacedDisk(() => times.shift() ?? 211);
  const empty = disk.write(handle.fd, new Uint8Array());
  expect(empty).toBeUndefined();
  await expect(disk.write(handle.fd, Buffer.from('a'))).rejects.toThrow(/EBADF/);
  const quick = new PacedDisk(() => 0);
  expect(() => quick.write(handle.fd, Buffer.from('a'))).toThrow(/EBADF/);
  await handle.close();
});
