import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isErrno, lstatOrAbsent } from './plain-file.ts';

/**
 * Why a way that begins in a working tree does not stay there; undefined when it does. A link can be committed, and then a
 * plain name in the tree means a file of whoever checks it out. Of ways that begin elsewhere nothing is said: those are a
 * person's own. The file itself need not exist.
 */
export function findWayOut(path: string): string | undefined {
  const wanted = resolve(path);
  const real = realPathOf(wanted);
  if (real === wanted) return undefined; // I23
  if (real === undefined) return 'a symbolic link on the way leads nowhere';
  for (const tree of treesAround(wanted)) {
    const way = relative(realPathOf(tree) ?? tree, real);
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return `a symbolic link leads out of ${tree}`;
    // A folder of a tool, or a file of secrets: named in full by whoever means it.
    const named = relative(tree, wanted).split(sep);
    const hidden = way.split(sep).find((name) => name.startsWith('.') && !named.includes(name));
    if (hidden !== undefined) return `a symbolic link leads to ${hidden}`;
  }
  return undefined;
}

/** Whether the repository that holds `path` holds `other` as well. True where no repository holds it. */
export function isInSameRepository(path: string, other: string): boolean {
  const wanted = resolve(path);
  const [repository] = treesAround(wanted).filter((folder) => isThere(join(folder, '.git')));
  if (repository === undefined) return true;
  const way = relative(repository, resolve(other));
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Folders whose content others may have made: the repositories that hold the path, and the folder we work in. */
function treesAround(path: string): string[] {
  const here = process.cwd();
  const trees: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (folder === here || isThere(join(folder, '.git'))) trees.push(folder);
    if (folder === dirname(folder)) return trees;
  }
}

function isThere(path: string): boolean {
  try {
    return lstatOrAbsent(path) !== undefined;
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return false;
    throw error;
  }
}

/** Every link on the way followed, as far as there is one; undefined when one leads nowhere, or round in a circle. */
function realPathOf(path: string): string | undefined {
  const missing: string[] = [];
  for (let known = path; ; known = dirname(known)) {
    try {
      return join(realpathSync.native(known), ...missing);
    } catch (error) {
      if (isErrno(error, 'ELOOP')) return undefined;
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EACCES') || known === dirname(known)) return path;
      if (isThere(known)) return isErrno(error, 'ENOENT') ? undefined : path;
      missing.unshift(basename(known));
    }
  }
}
