import { runGit } from './git-command.ts';
import type { Repository } from './repository.ts';

/**
 * Returns the path that a file of the checked-out commit had at another commit: the same, or an earlier name that git
 * recognizes. `undefined` if the file did not exist there.
 */
export async function findPathAt(repository: Repository, commit: string, path: string): Promise<string | undefined> {
  if (await isAt(repository, commit, path)) return path;
  for (const name of await listNames(repository, path)) if (await isAt(repository, commit, name)) return name;
  return undefined;
}

/** Lists all names that a file of the checked-out commit has had, the current name first. */
async function listNames({ folder }: Repository, path: string): Promise<string[]> {
  const words = ['log', '--follow', '--name-only', '-z', '--format=', '--no-ext-diff', '--no-textconv'];
  const { code, out } = await runGit(folder, [...words, 'HEAD', '--', literal(path)]);
  if (code !== 0) return [path];
  return [...new Set([path, ...out.toString('utf8').split('\0').filter(Boolean)])];
}

async function isAt({ folder }: Repository, commit: string, path: string): Promise<boolean> {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}:${path}`];
  return (await runGit(folder, words)).code === 0;
}

function literal(path: string): string {
  return `:(top,literal)${path}`;
}
