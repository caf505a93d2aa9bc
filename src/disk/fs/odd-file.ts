import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lstatOrAbsent } from './plain-file.ts';

/** Describes an entry of a folder, or the folder itself, if neither a plain file nor a folder; else undefined. */
export async function findOddFile(folder: string): Promise<string | undefined> {
  const stats = lstatOrAbsent(folder);
  if (stats === undefined) return undefined;
  if (!stats.isDirectory()) return `${folder} is no folder`;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const odd = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (odd === undefined) return undefined;
  return `${join(odd.parentPath, odd.name)} is ${odd.isSymbolicLink() ? 'a symbolic link' : 'a device or a pipe'}`;
}
