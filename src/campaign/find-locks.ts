import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isOpenFolder, listFolder } from '../disk/fs/list-folder.ts';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { messageOf } from '../ground/values.ts';
import { type LockReading, readLock } from '../lock/read.ts';
import { type Call, call } from '../plan/advice.ts';

export interface FoundLock {
  path: string;
  /** Path as seen from the working folder. */
  shown: string;
  /** Absent: the file cannot be read, and `problem` says why. */
  reading?: LockReading;
  problem?: string;
}

const lockName = /\.lock\.jsonl$/;
const sandboxLockName = /\.sandbox\.lock\.jsonl$/;
export const longestLock = 256 * 1024 ** 2;

/** The locks of a folder and of the folders in it, one level down. Those of sandbox runs never mix with real ones. */
export async function findLocks(folder: string, options: { sandbox: boolean }): Promise<FoundLock[]> {
  const isWanted = (name: string) => lockName.test(name) && sandboxLockName.test(name) === options.sandbox;
  const entries = await listFolder(folder);
  const paths = entries.filter((entry) => entry.isFile() && isWanted(entry.name)).map(({ name }) => join(folder, name));
  for (const { name } of entries.filter(isOpenFolder)) {
    const inner = await listFolder(join(folder, name));
    paths.push(
      ...inner.filter((entry) => entry.isFile() && isWanted(entry.name)).map((entry) => join(folder, name, entry.name)),
    );
  }
  const found: FoundLock[] = [];
  for (const path of paths.sort()) found.push(await read(path, relative('', path) || path));
  return found;
}

/** A command about the campaign that a lock belongs to: the manifest beside it, or any with this lock. */
export function callAbout(
  { path, shown }: Pick<FoundLock, 'path' | 'shown'>,
  command: string,
  ...words: string[]
): Call {
  const ending = ['.yaml', '.yml', '.json'].find((one) => existsSync(path.replace(lockEnding, one)));
  return ending === undefined
    ? call(command, '--lock', shown, ...words)
    : { ...call(command, ...words), file: shown.replace(lockEnding, ending) };
}

const lockEnding = /(\.sandbox)?\.lock\.jsonl$/;

async function read(path: string, shown: string): Promise<FoundLock> {
  try {
    const bytes = await readLockBytes(path);
    if (bytes === undefined) return { path, shown, problem: 'it is gone' };
    if (bytes.length > longestLock) return { path, shown, problem: 'it is larger than any lock' };
    if (bytes.length > 0 && !bytes.includes('"mediabatch"')) {
      return { path, shown, problem: 'it is not a lock of mediabatch: it has no header line' };
    }
    return { path, shown, reading: readLock(shown, bytes) };
  } catch (error) {
    return { path, shown, problem: messageOf(error) };
  }
}
