import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import { makeFolders } from '../fs/folders.ts';
import { isErrno, lstatOrAbsent } from '../fs/plain-file.ts';

/**
 * Makes the folder `state`, whose files are never committed, and its subfolder `name`. Throws `UnsafeFileError` if one of
 * them is a symbolic link, because a git branch can contain such a link.
 */
export async function prepareStateFolder(state: string, name = ''): Promise<void> {
  for (const folder of [state, ...foldersOn(state, name)]) {
    if (isRealFolder(folder)) continue;
    await makeFolders(folder, 0o700);
    isRealFolder(folder);
  }
  await ignoreItself(state);
}

/** Returns whether all folders in the path to `name` exist. Throws `UnsafeFileError` for a link. */
export function hasRealFolders(state: string, name: string): boolean {
  return [state, ...foldersOn(state, name)].every(isRealFolder);
}

function foldersOn(state: string, name: string): string[] {
  const names = name === '' ? [] : name.split('/');
  return names.map((_, index) => join(state, ...names.slice(0, index + 1)));
}

export function isRealFolder(path: string): boolean {
  const stats = lstatOrAbsent(path);
  if (stats === undefined) return false;
  if (!stats.isDirectory())
    throw new UnsafeFileError(path, stats.isSymbolicLink() ? 'a symbolic link' : 'not a folder');
  return true;
}

export async function ignoreItself(folder: string): Promise<void> {
  try {
    await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}
