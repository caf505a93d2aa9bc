import { extname } from 'node:path/posix';
import { askGit, runGit } from './git-command.ts';
import type { Repository } from './repository.ts';

/**
 * The path that a file of the working tree had at a commit, as far as git can tell: its own, or the one that it was
 * renamed from since, committed or not. Undefined where it was not there. Paths are those in the repository.
 */
export async function findPathAt(repository: Repository, commit: string, path: string): Promise<string | undefined> {
  const { folder } = repository;
  if (await isAt(repository, commit, path)) return path;
  const words = ['diff-index', '--cached', '-M', ...diffWords, commit, '--', ...alike(path)];
  return findSource(await askGit(folder, words), path);
}

/** Whether a commit has something of this path. */
export async function isAt({ folder }: Repository, commit: string, path: string): Promise<boolean> {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}:${path}`];
  return (await runGit(folder, words)).code === 0;
}

/** The paths that a commit renamed to this one, seen from each of its parents. */
export async function findSources(repository: Repository, commit: string, path: string): Promise<string[]> {
  const words = ['diff-tree', '-m', '-M', '--root', '--no-commit-id', ...diffWords, commit, '--', ...alike(path)];
  const text = await askGit(repository.folder, words);
  const source = findSource(text, path);
  return source === undefined ? [] : [source];
}

const diffWords = ['-r', '-z', '--full-index', '--name-status', '--diff-filter=R', '--no-ext-diff', '--no-textconv'];

/** Renames are only looked for among files of the same kind: a commit may add thousands of pictures. */
function alike(path: string): string[] {
  const ending = extname(path);
  return /^\.\w+$/.test(ending) ? [`:(top,glob)**/*${ending}`] : [];
}

/** Finds the earlier name of a path in `R100 NUL from NUL to NUL …`. */
function findSource(renames: Buffer, path: string): string | undefined {
  const fields = renames.toString('utf8').split('\0');
  for (let at = 0; at + 2 < fields.length; at += 3) if (fields[at + 2] === path) return fields[at + 1];
  return undefined;
}
