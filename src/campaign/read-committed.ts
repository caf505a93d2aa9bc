import { basename, relative, resolve, sep } from 'node:path';
import { basename as baseOf, dirname as folderOf } from 'node:path/posix';
import { CampaignError } from '../contract/failure.ts';
import { CommitTree } from '../disk/git/commit-tree.ts';
import { findPathAt } from '../disk/git/file-history.ts';
import { askGit } from '../disk/git/git-command.ts';
import { openRepository, pathInRepository, type Repository, resolveCommit } from '../disk/git/repository.ts';
import { readManifestText } from '../disk/inputs.ts';
import type { Graph } from '../graph/graph.ts';
import { shell, way } from '../ground/advice.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { emptyLock } from '../lock/write.ts';
import { longestLock } from './find-locks.ts';
import { loadWithNames } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';

interface NamedCommit {
  ref: string;
  commit: string;
  repository: Repository;
}

interface CommittedLock extends NamedCommit {
  lock: Lock;
  /** Whether the commit has no lock: nothing was bought there, or the lock is not in git. */
  isAbsent: boolean;
}

/** A campaign as it is in a commit, read from git's objects. Nothing is checked out or run. */
interface CommittedCampaign extends CommittedLock {
  graph: Graph;
  /** Path of the manifest in the repository at this commit. */
  path: string;
}

/**
 * Reads manifest, included files, data, digests of uploads, and lock at a commit. A file that was renamed since is
 * found by its old name. Throws MB3604 if the commit does not contain a valid campaign.
 */
export async function readCommittedCampaign(campaign: OpenCampaign, ref: string): Promise<CommittedCampaign> {
  const { file, paths } = campaign;
  const repository = await openRepository(paths.folder);
  const commit = await resolveCommit(repository, ref);
  const own = `${repository.prefix}${basename(file)}`;
  const path = await findPathAt(repository, commit, own);
  if (path === undefined) throw notThere(file, { ref, isShallow: repository.isShallow });
  const folder = folderOf(path);
  const tree = await CommitTree.open(repository.folder, commit, folder === '.' ? '' : `${folder}/`);
  try {
    const reader = {
      isEarlier: true as const,
      manifest: () => tree.manifest(baseOf(path)),
      // A variable file that is not in the commit is read from the disk, like variables given by options.
      vars: (name: string) => {
        const own = relative(paths.folder, resolve(name)).split(sep).join('/');
        return tree.has(own) ? tree.manifest(own) : readManifestText(name);
      },
      data: (name: string) => tree.data(name),
      bytes: (name: string) => tree.bytes(name),
      files: (pattern: string) => tree.files(pattern),
      digest: (name: string) => tree.digest(name),
    };
    const { graph, diagnostics } = await loadWithNames(campaign, { reader });
    const [mistake] = diagnostics.filter(({ severity }) => severity === 'error');
    if (graph === undefined || hasErrors(diagnostics)) {
      const where = mistake?.place === undefined ? '' : `${mistake.place.file}:${mistake.place.start.line}: `;
      throw unusable(file, ref, `it has mistakes there, the first: ${where}${mistake?.message ?? ''}`);
    }
    const lock = await readLockAt(campaign, { ref, commit, repository });
    return { ...lock, graph, path };
  } catch (error) {
    if (!(error instanceof CampaignError) || error.failure.code !== 'MB1001') throw error;
    throw unusable(file, ref, error.failure.message);
  }
}

/** Throws MB3604 for a lock that cannot be read, or that is newer than this version. */
async function readLockAt({ paths }: OpenCampaign, at: NamedCommit): Promise<CommittedLock> {
  const { ref, commit, repository } = at;
  const own = await pathInRepository(paths.lock, repository);
  const path = own === undefined ? undefined : await findPathAt(repository, commit, own);
  if (path === undefined) return { ...at, lock: emptyLock(), isAbsent: true };
  const shown = relative('', paths.lock) || paths.lock;
  const bytes = await askGit(repository.folder, ['cat-file', 'blob', `${commit}:${path}`], { mostBytes: longestLock });
  const { lock, diagnostics } = readLock(`${shown} at ${ref}`, bytes);
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error === undefined) return { ...at, lock, isAbsent: false };
  const hint =
    error.code === 'MB2002'
      ? 'update mediabatch to the version that wrote it, or compare with an earlier commit'
      : way(
          'compare with a commit in which the file is intact; to see this version',
          shell('git', 'show', `${commit.slice(0, 12)}:${path}`),
        );
  throw new CampaignError({ code: 'MB3604', message: error.message, hint, file: shown, ref });
}

function notThere(file: string, { ref, isShallow }: { ref: string; isShallow: boolean }): CampaignError {
  const having = way(
    'compare with a commit that has it; to list them',
    shell('git', 'log', '--follow', '--oneline', '--', file),
  );
  const whole = way('this clone is shallow; to fetch the rest', shell('git', 'fetch', '--unshallow'));
  return new CampaignError({
    code: 'MB3604',
    message: `${file} is not in ${ref}, and git finds no file there under an earlier name`,
    hint: isShallow ? [having, whole] : having,
    file,
    ref,
  });
}

function unusable(file: string, ref: string, why: string): CampaignError {
  return new CampaignError({
    code: 'MB3604',
    message: `${file} at ${ref}: ${why}`,
    hint: 'compare with a commit in which the file is intact, or correct it there',
    file,
    ref,
  });
}
