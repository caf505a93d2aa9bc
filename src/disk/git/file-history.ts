import { CampaignError } from '../../contract/failure.ts';
import { askGit } from './git-command.ts';
import { ObjectReader } from './object-reader.ts';
import { findPathAt, findSources } from './renames.ts';
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
  const objects = new ObjectReader(folder);
  try {
    for (const { commit, id, bytes } of versions) {
      if (bytes > mostBytes) {
        const message = `the version of ${path} in the commit ${commit.id.slice(0, 10)} is larger than any lock: ${bytes} bytes`;
        throw new CampaignError({ code: 'MB3606', message });
      }
      const content = await objects.read(id);
      if (content !== undefined && !take(commit, content)) return;
    }
  } finally {
    objects.close();
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
): Promise<{ commit: FileCommit; id: string; bytes: number }[]> {
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
