import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno } from './plain-file.ts';

/**
 * Makes a folder, and those that it is in. Throws what the system says. Node's own way (`recursive`) asks for ever where a
 * folder exists in which nothing can be made, as in /proc.
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
    // What is there already is refused with different words, by systems and file systems.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
  }
}
