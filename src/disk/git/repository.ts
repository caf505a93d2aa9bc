import { realpathSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import { shell, way } from '../../ground/advice.ts';
import { askGit, gitRefusal, runGit } from './git-command.ts';

export interface Repository {
  folder: string;
  /** Path of the folder in the repository: empty, or with a `/` at the end. */
  prefix: string;
  /** Absolute path of the working tree. It identifies the repository. */
  top: string;
  isShallow: boolean;
}

/**
 * Finds the repository that contains a folder. Throws MB3601 if the folder is in no repository, and MB3605 if git is
 * missing.
 */
export async function openRepository(given: string): Promise<Repository> {
  const folder = resolve(given);
  const words = ['rev-parse', '--is-inside-work-tree', '--is-shallow-repository', '--show-prefix'];
  const { code, out, err } = await runGit(folder, words);
  if (code !== 0) {
    if (!/not a git repository|cannot use bare repository|cannot change to/.test(err))
      throw refusal(words, err, folder);
    throw noRepository(folder);
  }
  const [inside, shallow, ...rest] = out.toString('utf8').split('\n');
  if (inside !== 'true') throw noRepository(folder);
  const top = (await askGit(folder, ['rev-parse', '--show-toplevel'])).toString('utf8').slice(0, -1);
  return { folder, prefix: rest.slice(0, -1).join('\n'), top, isShallow: shallow === 'true' };
}

export async function pathInRepository(path: string, { top }: Repository): Promise<string | undefined> {
  try {
    const around = await openRepository(realpathSync(dirname(resolve(path))));
    return around.top === top ? `${around.prefix}${basename(path)}` : undefined;
  } catch (error) {
    if (error instanceof CampaignError && error.failure.code === 'MB3601') return undefined;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function resolveCommit(repository: Repository, ref: string): Promise<string> {
  const { folder, isShallow } = repository;
  const found = await findCommit(folder, ref);
  if (found !== undefined) return found;
  const message = `git has no commit ${JSON.stringify(ref)} here`;
  if (isShallow) {
    const hint = way('this clone is shallow; to fetch the whole history', shell('git', 'fetch', '--unshallow'));
    throw new CampaignError({ code: 'MB3603', message, hint });
  }
  const hint = way('to list all branches, including remote branches', shell('git', 'branch', '--all'));
  throw new CampaignError({ code: 'MB3602', message, hint, ref });
}

async function findCommit(folder: string, ref: string): Promise<string | undefined> {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const { code, out } = await runGit(folder, words);
  const id = out.toString('utf8').trim();
  return code === 0 && /^[0-9a-f]{40,64}$/.test(id) ? id : undefined;
}

export async function findMergeBase({ folder }: Repository, a: string, b: string): Promise<string | undefined> {
  const { code, out } = await runGit(folder, ['merge-base', a, b]);
  return code === 0 ? out.toString('utf8').trim() : undefined;
}

function noRepository(folder: string): CampaignError {
  return new CampaignError({
    code: 'MB3601',
    message: `${relative('', folder) || 'this folder'} is not in a git repository`,
    hint: way(
      'name a campaign in a git repository, or create a repository and commit the campaign',
      shell('git', 'init'),
    ),
  });
}

function refusal(words: readonly string[], err: string, folder: string): CampaignError {
  if (!/dubious ownership/.test(err)) return gitRefusal(words, err);
  const [, top = folder] = /repository at '([^'\n]+)'/.exec(err) ?? [];
  return new CampaignError({
    code: 'MB3606',
    message: `git does not trust the repository around ${folder}: it belongs to another user`,
    hint: way('to trust it', shell('git', 'config', '--global', '--add', 'safe.directory', top)),
  });
}

/**
 * Returns the path that a checked-out file had in another commit, even if the file was renamed since that commit.
 * Returns `undefined` if that commit lacks the file.
 */
export async function findPathAt(repository: Repository, commit: string, path: string): Promise<string | undefined> {
  if (await isAt(repository, commit, path)) return path;
  for (const name of await listNames(repository, path)) if (await isAt(repository, commit, name)) return name;
  return undefined;
}

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
