import { closeSync, constants, fsync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { copyFile, link, open } from 'node:fs/promises';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hasNoLinks, isErrno } from './plain-file.ts';

export const syncFile = promisify(fsync);

/** Writes all bytes. Writes synchronously, because passing a write to another thread takes longer than the write. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    const more = writeSync(fd, bytes, written);
    if (more === 0) throw new Error('the disk accepted no more bytes');
    written += more;
  }
}

const folderSyncs = new Map<string, () => Promise<void>>();

/** Syncs a folder, so that new and changed file names in it survive a power cut. Concurrent calls share a sync. */
export function syncFolder(path: string): Promise<void> {
  const sync = folderSyncs.get(path) ?? coalesce(() => syncNow(path));
  folderSyncs.set(path, sync);
  return sync();
}

async function syncNow(path: string): Promise<void> {
  try {
    const fd = openSync(path, constants.O_RDONLY);
    try {
      await syncFile(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // Windows cannot sync folders; its file systems keep the order of changes to names.
    if (process.platform === 'win32' && isErrno(error, 'EPERM', 'EISDIR', 'EINVAL', 'EACCES')) return;
    throw error;
  }
}

/** In ms. Waiting time before each retry on Windows, where a virus scanner or an indexer may hold a file open. */
const retriesMs = [20, 50, 100, 200, 400, 500, 500];

export function renameFile(from: string, to: string, platform: string = process.platform): Promise<void> {
  return orLater(() => renameSync(from, to), platform);
}

export function unlinkFile(path: string, platform: string = process.platform): Promise<void> {
  return orLater(() => unlinkSync(path), platform);
}

async function orLater(act: () => void, platform: string): Promise<void> {
  for (const waitMs of platform === 'win32' ? retriesMs : []) {
    try {
      return act();
    } catch (error) {
      if (!isErrno(error, 'EPERM', 'EACCES', 'EBUSY')) throw error;
      await sleep(waitMs);
    }
  }
  act();
}

export async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (!hasNoLinks(error)) throw error;
    await copyDurably(source, target);
  }
}

/** Copies a file to a new name. Syncs the content but not the folder. */
export async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const handle = await open(target, constants.O_RDWR);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Returns a function that runs `act`. All calls in one turn of the event loop, or during a running `act`, share one run
 * of `act`.
 */
export function coalesce<Result>(act: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  const run = async () => {
    await current;
    await endOfTurn();
    next = undefined;
    const started = act();
    current = started.catch(() => undefined);
    return started;
  };
  return () => {
    next ??= run();
    return next;
  };
}
