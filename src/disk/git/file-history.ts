import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { askGit, runGit } from './git-command.ts';
import { findCommit, type Repository } from './repository.ts';

const mostBytes = 256 * 1024 ** 2;

/**
 * Reads the records that commits added to a file of JSON lines, oldest commit first, across merges and renames. `path`:
 * in the repository. A record that a merge brings in is yielded again; lines that are not JSON are skipped.
 */
export async function* readAddedRecords(
  repository: Repository,
  path: string,
): AsyncGenerator<{ [name: string]: Json }> {
  const { folder } = repository;
  if ((await findCommit(folder, 'HEAD')) === undefined) return;
  const paths = await listNames(repository, path);
  const order = ['--full-history', '--date-order', '--reverse', '-m', '--encoding=UTF-8'];
  const patch = ['--patch', '--unified=0', '--text', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const words = ['log', ...order, ...patch, '--format=', 'HEAD', '--', ...paths.map(literal)];
  const out = (await askGit(folder, words, { mostBytes })).toString('utf8');
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf('\n', at);
    const line = out.slice(at, end === -1 ? out.length : end);
    at += line.length + 1;
    const record = line.startsWith('+{') ? readRecord(line.slice(1)) : undefined;
    if (record !== undefined) yield record;
  }
}

function readRecord(line: string): { [name: string]: Json } | undefined {
  try {
    const value = JSON.parse(line) as Json;
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

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
