import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isErrno, lstatOrAbsent } from './plain-file.ts';

/**
 * Explains how a path in a working tree leads out of the tree through a symbolic link. Returns `undefined` for a path
 * that stays in the tree, and for a path in no tree. The file need not exist. The check is needed because a committed
 * link can point to any file of the user.
 */
export function findWayOut(path: string): string | undefined {
  const wanted = resolve(path);
  const real = realPathOf(wanted);
  if (real === wanted) return undefined; // I23
  if (real === undefined) return 'a symbolic link in the path is broken';
  for (const tree of treesAround(wanted)) {
    const way = relative(realPathOf(tree) ?? tree, real);
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return `a symbolic link leads out of ${tree}`;
    // Hidden folders and files may contain secrets. A link may lead to one only if the path itself contains its name.
    const named = relative(tree, wanted).split(sep);
    const hidden = way.split(sep).find((name) => name.startsWith('.') && !named.includes(name));
    if (hidden !== undefined) return `a symbolic link leads to ${hidden}`;
  }
  return undefined;
}

/** Returns the first hidden name in a path, counted from the path's repository or the working folder. */
export function findHiddenPart(path: string): string | undefined {
  const way = relative(repositoryOf(path) ?? process.cwd(), resolve(path)).split(sep);
  return way[0] === '..' ? undefined : way.find((name) => name.startsWith('.'));
}

/** Returns whether the repository of `path` contains `other`. Returns true if `path` is in no repository. */
export function isInSameRepository(path: string, other: string): boolean {
  const repository = repositoryOf(path);
  if (repository === undefined) return true;
  const way = relative(repository, resolve(other));
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

export function repositoryOf(path: string): string | undefined {
  return treesAround(resolve(path)).find((folder) => exists(join(folder, '.git')));
}

/**
 * Returns the folders around a path whose content other users may have written: repositories and the working folder.
 */
function treesAround(path: string): string[] {
  const here = process.cwd();
  const trees: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (folder === here || exists(join(folder, '.git'))) trees.push(folder);
    if (folder === dirname(folder)) return trees;
  }
}

function exists(path: string): boolean {
  try {
    return lstatOrAbsent(path) !== undefined;
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return false;
    throw error;
  }
}

function realPathOf(path: string): string | undefined {
  const missing: string[] = [];
  for (let known = path; ; known = dirname(known)) {
    try {
      return join(realpathSync.native(known), ...missing);
    } catch (error) {
      if (isErrno(error, 'ELOOP')) return undefined;
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EACCES') || known === dirname(known)) return path;
      if (exists(known)) return isErrno(error, 'ENOENT') ? undefined : path;
      missing.unshift(basename(known));
    }
  }
}
