import { constants, type Stats } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from './plain-file.ts';
import { knownExtensions } from './sniff.ts';

/** Why an output could not be saved where it is to go. */
export interface BadPlace {
  address: string;
  /** Relative to the folder of outputs. */
  path: string;
  why: 'symlink' | 'not-a-folder' | 'not-a-file' | 'not-writable';
}

/**
 * Looks at every place where something will be saved, before anything is paid for: no symbolic link on the way, folders
 * where folders are needed, and somewhere to write. At most one problem for each folder or target.
 */
export async function findBadPlaces(
  root: string,
  saves: Iterable<{ address: string; save: string }>,
): Promise<BadPlace[]> {
  const folders = new Map<string, Promise<Omit<BadPlace, 'address'> | undefined>>();
  const bad: BadPlace[] = [];
  for (const { address, save } of saves) {
    const folder = save.split('/').slice(0, -1).join('/');
    const known = folders.get(folder);
    const checking = known ?? checkFolder(root, folder);
    folders.set(folder, checking);
    const problem = await checking;
    if (problem !== undefined) {
      if (known === undefined) bad.push({ address, ...problem });
      continue;
    }
    const target = await checkTarget(root, save);
    if (target !== undefined) bad.push({ address, ...target });
  }
  return bad;
}

async function checkFolder(root: string, folder: string): Promise<Omit<BadPlace, 'address'> | undefined> {
  let existing = root;
  let path = '';
  for (const name of folder === '' ? [] : folder.split('/')) {
    path = path === '' ? name : `${path}/${name}`;
    const stats = await statOrAbsent(join(root, path));
    if (stats === undefined) break;
    if (stats.isSymbolicLink()) return { path, why: 'symlink' };
    if (!stats.isDirectory()) return { path, why: 'not-a-folder' };
    existing = join(root, path);
  }
  if ((await statOrAbsent(existing)) === undefined) return undefined;
  try {
    await access(existing, constants.W_OK);
    return undefined;
  } catch {
    return { path: path === '' ? '.' : path, why: 'not-writable' };
  }
}

async function checkTarget(root: string, save: string): Promise<Omit<BadPlace, 'address'> | undefined> {
  for (const extension of knownExtensions) {
    const path = `${save}${extension}`;
    const stats = await statOrAbsent(join(root, path));
    if (stats?.isSymbolicLink()) return { path, why: 'symlink' };
    if (stats !== undefined && !stats.isFile()) return { path, why: 'not-a-file' };
  }
  return undefined;
}

async function statOrAbsent(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
