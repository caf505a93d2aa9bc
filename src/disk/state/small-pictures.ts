import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import { isErrno, lstatOrAbsent } from '../fs/plain-file.ts';
import { hasRealFolders } from './state-folder.ts';

/** Name of the folder, below that for state. */
export const thumbsFolder = 'thumbs';

/** Number and size of the small pictures that the review page has had made. Nothing relies on them. */
export async function measureThumbs(state: string): Promise<{ count: number; bytes: number }> {
  try {
    if (!hasRealFolders(state, thumbsFolder)) return { count: 0, bytes: 0 };
    const names = await readdir(join(state, thumbsFolder));
    const sizes = names.map((name) => lstatOrAbsent(join(state, thumbsFolder, name))?.size ?? 0);
    return { count: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } catch (error) {
    if (!(error instanceof UnsafeFileError) && !isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) throw error;
    return { count: 0, bytes: 0 };
  }
}
