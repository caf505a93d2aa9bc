import { type Dirent, readdirSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno, lstatOrAbsent } from './plain-file.ts';

export async function listFolder(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/**
 * Makes a folder and its parents. Node's option `recursive` is not used, because in some folders, such as /proc, it
 * retries forever.
 */
export async function makeFolders(path: string, mode?: number): Promise<void> {
  try {
    await makeFolder(path, mode);
  } catch (error) {
    if (!isErrno(error, 'ENOENT') || dirname(path) === path) throw error;
    await makeFolders(dirname(path), mode);
    await makeFolder(path, mode);
  }
}

async function makeFolder(path: string, mode: number | undefined): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // File systems report different errors for an existing folder.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
  }
}

export async function findOddFile(folder: string): Promise<string | undefined> {
  const stats = lstatOrAbsent(folder);
  if (stats === undefined) return undefined;
  if (!stats.isDirectory()) return `${folder} is not a folder`;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const odd = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (odd === undefined) return undefined;
  return `${join(odd.parentPath, odd.name)} is ${odd.isSymbolicLink() ? 'a symbolic link' : 'a device or a pipe'}`;
}
