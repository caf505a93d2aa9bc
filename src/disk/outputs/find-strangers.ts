import { readdir } from 'node:fs/promises';
import { isOutputPath } from '../../lock/check-line.ts';
import { isErrno } from '../fs/plain-file.ts';
import { findOutputFolder } from './output-path.ts';
import { knownExtensions } from './sniff.ts';

/** A file that no step made, at a path where a step will save. */
export interface Stranger {
  address: string;
  path: string;
}

/** Searches each save path, with every extension that the bytes could require. In the order of `saves`. */
export async function findStrangers(
  root: string,
  saves: Iterable<{ address: string; save: string }>,
  isOurs: (path: string) => boolean,
): Promise<Stranger[]> {
  const strangers: Stranger[] = [];
  const folders = new Map<string, Set<string>>();
  for (const { address, save } of saves) {
    if (!isOutputPath(save)) continue;
    const parts = save.split('/');
    const stem = parts.pop() ?? '';
    const folder = parts.join('/');
    const names = folders.get(folder) ?? (await listNames(root, parts));
    folders.set(folder, names);
    for (const extension of knownExtensions) {
      const path = `${save}${extension}`;
      if (names.has(`${stem}${extension}`) && !isOurs(path)) strangers.push({ address, path });
    }
  }
  return strangers;
}

async function listNames(root: string, parts: readonly string[]): Promise<Set<string>> {
  const folder = findOutputFolder(root, parts);
  if (folder === undefined) return new Set();
  try {
    return new Set(await readdir(folder));
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return new Set();
    throw error;
  }
}
