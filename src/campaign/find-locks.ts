import { dirname, join, relative, resolve } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { listFolder } from '../disk/fs/folders.ts';
import { repositoryOf } from '../disk/fs/own-tree.ts';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { messageOf } from '../ground/values.ts';
import { type LockReading, readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { type CampaignPaths, shownPath } from './paths.ts';

export interface FoundLock {
  path: string;
  shown: string;
  reading?: LockReading;
  problem?: string;
}

const lockName = /\.lock\.jsonl$/;
const sandboxLockName = /\.sandbox\.lock\.jsonl$/;
export const longestLock = 256 * 1024 ** 2;

/** Finds locks in a folder and its direct subfolders. `sandbox`: true for only sandbox locks, false for all others. */
export async function findLocks(folder: string, options: { sandbox: boolean }): Promise<FoundLock[]> {
  const paths = await listLocks(folder);
  const wanted = paths.filter((path) => sandboxLockName.test(path) === options.sandbox);
  const found: FoundLock[] = [];
  for (const path of wanted) found.push(await read(path, shownPath(path)));
  return found;
}

async function listLocks(folder: string): Promise<string[]> {
  const paths: string[] = [];
  const open = [folder];
  for (const place of open) {
    for (const entry of await listFolder(place)) {
      const path = join(place, entry.name);
      if (entry.isFile() && lockName.test(entry.name)) paths.push(path);
      const isOpen = entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name);
      if (place === folder && isOpen) open.push(path);
    }
  }
  return paths.sort();
}

export async function requireOtherLocks(
  { folder, lock }: CampaignPaths,
  { sandbox, mayHave, done }: { sandbox: boolean; mayHave: string; done: string },
): Promise<{ path: string; lock: Lock }[]> {
  const others = (await findLocks(folder, { sandbox })).filter(({ path }) => path !== lock);
  return others.map(({ path, shown, problem, reading }) => {
    if (reading !== undefined && !hasErrors(reading.diagnostics)) return { path, lock: reading.lock };
    const message = `${shown} cannot be read${problem === undefined ? '' : ` (${problem})`}, and this lock may contain ${mayHave}`;
    const hint = `repair ${shown}, or move it to another folder; nothing was ${done}`;
    throw new CampaignError({ code: 'MB3407', message, hint, lock: shown });
  });
}

async function read(path: string, shown: string): Promise<FoundLock> {
  try {
    const bytes = await readLockBytes(path);
    if (bytes === undefined) return { path, shown, problem: 'it no longer exists' };
    if (bytes.length > longestLock) return { path, shown, problem: 'it is too large for a lock' };
    if (bytes.length > 0 && !bytes.includes('"mediabatch"')) {
      return { path, shown, problem: 'it is not a lock of mediabatch: it has no header line' };
    }
    return { path, shown, reading: readLock(shown, bytes) };
  } catch (error) {
    return { path, shown, problem: messageOf(error) };
  }
}

// Maximum number and size of locks of other campaigns to read. Such a lock may be forged, so it serves only as a hint.
const most = { locks: 24, bytesOfLock: 8 * 1024 ** 2, bytes: 32 * 1024 ** 2 };

/** Reads other campaigns' locks for this service, in this folder and its parent. Skips damaged and large locks. */
export async function readOtherLocks(
  { folder, manifest, lock: own }: CampaignPaths,
  service: string,
): Promise<{ shown: string; lock: Lock }[]> {
  const above = dirname(folder);
  const isOurs = !relative(repositoryOf(manifest) ?? resolve(''), above).startsWith('..');
  const paths = new Set([...(await listLocks(folder)), ...(isOurs ? await listLocks(above) : [])]);
  paths.delete(own);
  const locks: { shown: string; lock: Lock }[] = [];
  let left = most.bytes;
  for (const path of paths) {
    if (locks.length >= most.locks || left <= 0) break;
    try {
      const bytes = await readLockBytes(path, Math.min(most.bytesOfLock, left));
      if (bytes === undefined || !bytes.includes(`"service":"${service}"`)) continue;
      left -= bytes.length;
      const { lock, services, diagnostics } = readLock(path, bytes);
      if (!hasErrors(diagnostics) && services.length === 1 && services[0] === service) {
        locks.push({ shown: shownPath(path), lock });
      }
    } catch {
      // The lock was deleted, is not a regular file, or is not readable for this user.
    }
  }
  return locks;
}
