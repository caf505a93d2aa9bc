import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readSmallFile } from '../fs/plain-file.ts';

/** Longest that any of these files may be, for a repository with very many refs. */
const mostBytes = 16 * 1024 ** 2;

/**
 * The commit that is checked out around a folder, as hex; undefined outside of a repository, before its first commit,
 * and where git keeps refs in another way. Reads git's own files: to start git takes longer than all the rest of a plan.
 */
export function readCheckedOutCommit(folder: string): string | undefined {
  const own = findGitFolder(resolve(folder));
  const head = own === undefined ? undefined : read(join(own, 'HEAD'));
  if (own === undefined || head === undefined) return undefined;
  const [, ref] = /^ref: (refs\/[^\s\\:~^?*[]+)$/.exec(head) ?? [];
  if (ref === undefined) return asCommit(head);
  if (ref.split('/').includes('..')) return undefined;
  // A linked work tree has a HEAD of its own, and the refs of the repository that it belongs to.
  const common = read(join(own, 'commondir'));
  const shared = common === undefined ? own : resolve(own, common);
  return asCommit(read(join(own, ref)) ?? read(join(shared, ref))) ?? findPacked(shared, ref);
}

function findGitFolder(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.git');
    if (read(join(path, 'HEAD')) !== undefined) return path;
    const [, way] = /^gitdir: (.+)$/.exec(read(path) ?? '') ?? [];
    if (way !== undefined) return isAbsolute(way) ? way : resolve(folder, way);
    if (folder === dirname(folder)) return undefined;
  }
}

function findPacked(shared: string, ref: string): string | undefined {
  const line = read(join(shared, 'packed-refs'))
    ?.split('\n')
    .find((one) => one.endsWith(` ${ref}`));
  return asCommit(line?.slice(0, line.indexOf(' ')));
}

function read(path: string): string | undefined {
  return readSmallFile(path, mostBytes)?.toString('utf8').trim();
}

function asCommit(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : undefined;
}
