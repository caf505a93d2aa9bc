import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** Lists a folder in the order of names, on every file system. A folder that cannot be listed has nothing for us. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

/** A folder in which campaigns may lie: not hidden, and of no package. */
export function isOpenFolder(entry: Dirent): boolean {
  return entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name);
}
