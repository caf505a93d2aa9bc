import { extname } from 'node:path/posix';
import { CampaignError } from '../../contract/failure.ts';
import { askGit, type GitBlob, readBlobs, runGit } from './git-command.ts';
import { findCommit, type Repository } from './repository.ts';

/** A commit that changed a file. */
export interface FileCommit {
  id: string;
  /** Author as the repository's `.mailmap` writes it. */
  author: string;
  /** Time of writing, by its author's own clock: ISO 8601 with the offset. */
  date: string;
  /** It has parents that this clone knows. */
  hasParents: boolean;
}

const mostPaths = 20;

/**
 * Walks through all versions of a file, oldest first: over merges and renames, each content once, with the first commit
 * that has it. `path` is that in the repository. Ends early where `take` returns false.
 */
export async function walkFileHistory(
  repository: Repository,
  { path, mostBytes }: { path: string; mostBytes: number },
  take: (commit: FileCommit, bytes: Buffer) => boolean,
): Promise<void> {
  const { folder } = repository;
  const head = await findCommit(folder, 'HEAD');
  if (head === undefined) return;
  const paths = await findPaths(repository, head, path);
  const commits = await listCommits(repository, head, paths);
  const versions = await listVersions(repository, commits, paths);
  const large = versions.find(({ bytes }) => bytes > mostBytes);
  const contents = readBlobs(folder, large === undefined ? versions : versions.slice(0, versions.indexOf(large)));
  let read = 0;
  for await (const content of contents) {
    const commit = versions[read++]?.commit;
    if (commit !== undefined && content !== undefined && !take(commit, content)) return;
  }
  if (large !== undefined) {
    const message = `the version of ${path} in the commit ${large.commit.id.slice(0, 10)} is larger than any lock: ${large.bytes} bytes`;
    throw new CampaignError({ code: 'MB3606', message });
  }
}

/** All names that the file had. */
async function findPaths(repository: Repository, head: string, path: string): Promise<string[]> {
  const start = (await findPathAt(repository, head, path)) ?? path;
  const paths = [start];
  for (let index = 0; index < paths.length && paths.length < mostPaths; index++) {
    const known = paths[index] ?? start;
    for (const commit of await listAdding(repository, head, known)) {
      for (const source of await findSources(repository, commit, known)) {
        if (!paths.includes(source)) paths.push(source);
      }
    }
  }
  return paths;
}

/** Commits in which a path is new, seen from one of their parents. */
async function listAdding({ folder }: Repository, head: string, path: string): Promise<string[]> {
  const words = ['log', '--full-history', '-m', '--diff-filter=A', '--no-renames', '--no-patch', '--format=%H'];
  const out = await askGit(folder, [...words, head, '--', `:(top,literal)${path}`]);
  return [...new Set(out.toString('latin1').split('\n').filter(Boolean))];
}

async function listCommits({ folder }: Repository, head: string, paths: readonly string[]): Promise<FileCommit[]> {
  const format = '--format=%H%x00%P%x00%aI%x00%aN <%aE>%x00';
  const words = ['log', '--full-history', '--date-order', '--reverse', '--no-patch', '--encoding=UTF-8', format];
  const out = await askGit(folder, [...words, head, '--', ...paths.map((path) => `:(top,literal)${path}`)]);
  const fields = out.toString('utf8').split('\0');
  const commits: FileCommit[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [id = '', parents = '', date = '', author = ''] = fields.slice(at, at + 4);
    commits.push({ id: id.trim(), author, date, hasParents: parents !== '' });
  }
  return commits;
}

/** The contents that the paths have in the commits, each with its first one. */
async function listVersions(
  { folder }: Repository,
  commits: readonly FileCommit[],
  paths: readonly string[],
): Promise<(GitBlob & { commit: FileCommit })[]> {
  const asked = commits.flatMap((commit) => paths.map((path) => ({ commit, name: `${commit.id}:${path}` })));
  const input = asked.map(({ name }) => `${name.replaceAll('\n', '')}\n`).join('');
  const out = await askGit(folder, ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)'], { input });
  const lines = out.toString('utf8').split('\n');
  const seen = new Set<string>();
  return asked.flatMap(({ commit }, index) => {
    const [, id, bytes] = /^([0-9a-f]{40,64}) blob (\d+)$/.exec(lines[index] ?? '') ?? [];
    if (id === undefined || seen.has(id)) return [];
    seen.add(id);
    return [{ commit, id, bytes: Number(bytes) }];
  });
}

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
async function findSources(repository: Repository, commit: string, path: string): Promise<string[]> {
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
