import { join, resolve } from 'node:path';
import { isOpenFolder, listFolder } from './list-folder.ts';

/** Most folders that are looked for. */
const mostFolders = 500;

/**
 * Lists the folders, absolute, in which a file may come or go that a pattern matches: at least the one where the search begins,
 * which need not exist. `folder`: what the pattern is relative to.
 */
export async function foldersOfPattern(folder: string, pattern: string): Promise<string[]> {
  const names = pattern.replace(/^(?:\.\/)+/, '').split('/');
  const first = names.findIndex((name) => /[*?[\]{}()!+@\\]/.test(name));
  const plain = first === -1 ? names.slice(0, -1) : names.slice(0, first);
  // A brace may hold slashes of its own.
  const depth = /\*\*|\{[^}]*\//.test(pattern) ? Number.POSITIVE_INFINITY : names.length - 1 - plain.length;
  const found = [{ path: resolve(folder, ...plain), depth: 0 }];
  for (const one of found) {
    if (one.depth >= depth || found.length >= mostFolders) break;
    for (const entry of await listFolder(one.path)) {
      if (isOpenFolder(entry) && !entry.name.endsWith('.sandbox')) {
        found.push({ path: join(one.path, entry.name), depth: one.depth + 1 });
      }
    }
  }
  return found.slice(0, mostFolders).map(({ path }) => path);
}
