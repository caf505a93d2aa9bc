import { closeSync, constants, fsync, openSync, write } from 'node:fs';
import { copyFile, link, open, rename, unlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hasNoLinks, isErrno } from './plain-file.ts';

const writeSome = promisify(write);
const syncByThread = promisify(fsync);

/** Writes all of `bytes` to an open file, in as many calls as the system needs. */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await writeSome(fd, bytes, written, bytes.length - written, null);
    if (bytesWritten === 0) throw new Error('the disk accepted no more bytes');
    written += bytesWritten;
  }
}

/** Syncs a folder, so that added, renamed and removed files survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const fd = openSync(path, constants.O_RDONLY);
    try {
      await syncByThread(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // Windows cannot open or sync folders; its file systems preserve the order of changes to names themselves.
    if (process.platform === 'win32' && isErrno(error, 'EPERM', 'EISDIR', 'EINVAL', 'EACCES')) return;
    throw error;
  }
}

/** Waits in ms before each retry on Windows, where a virus scanner or an indexer may hold a file open. */
const retriesMs = [20, 50, 100, 200, 400, 500, 500];

/** Retries on Windows, where another program may hold the file open for a moment. */
export function renameFile(from: string, to: string, platform: string = process.platform): Promise<void> {
  return orLater(() => rename(from, to), platform);
}

/** Retries like `renameFile`. */
export function unlinkFile(path: string, platform: string = process.platform): Promise<void> {
  return orLater(() => unlink(path), platform);
}

async function orLater(act: () => Promise<void>, platform: string): Promise<void> {
  for (const waitMs of platform === 'win32' ? retriesMs : []) {
    try {
      return await act();
    } catch (error) {
      if (!isErrno(error, 'EPERM', 'EACCES', 'EBUSY')) throw error;
      await sleep(waitMs);
    }
  }
  await act();
}

/** Gives a file a second name, which must be free; makes a durable copy if the file system has no hard links. */
export async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (!hasNoLinks(error)) throw error;
    await copyDurably(source, target);
  }
}

/** Copies a file to a free name, sharing blocks if possible. The content is durable, but not the name. */
export async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const handle = await open(target, constants.O_RDWR);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
