import { dirname, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { CommitTree } from '../disk/git/commit-tree.ts';
import { findPathAt } from '../disk/git/renames.ts';
import { openRepository, pathInRepository, type Repository, resolveCommit } from '../disk/git/repository.ts';
import { readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { emptyLock } from '../lock/write.ts';
import { shellWord } from '../report/shell-word.ts';
import type { OpenCampaign } from './open-campaign.ts';

/** Larger than any lock. */
export const mostLockBytes = 256 * 1024 ** 2;

/** The lock of a campaign as it is in a commit. */
export interface CommittedLock {
  ref: string;
  /** Full hash. */
  commit: string;
  repository: Repository;
  lock: Lock;
  /** It is not in the commit: nothing was bought there, or git does not keep the lock. */
  isAbsent: boolean;
}

/** Reads the lock at a commit, from git's objects. One that cannot be read, or is newer than this version, is MB3607. */
export async function readCommit({ paths }: Pick<OpenCampaign, 'paths'>, ref: string): Promise<CommittedLock> {
  const repository = await openRepository(dirname(paths.lock));
  const commit = await resolveCommit(repository, ref);
  const path = await pathInRepository(paths.lock, repository);
  const there = path === undefined ? undefined : await findPathAt(repository, commit, path);
  if (there === undefined) return { ref, commit, repository, lock: emptyLock(), isAbsent: true };
  const shown = relative('', paths.lock) || paths.lock;
  const bytes = await readFileAt(repository, commit, there);
  const at = `${shown} at ${ref}`;
  if (bytes === undefined) {
    throw new CampaignError({
      code: 'MB3607',
      message: `${at} is no plain file, or larger than any lock`,
      hint: 'compare with another commit',
      file: shown,
      ref,
    });
  }
  const { lock, diagnostics } = readLock(at, bytes);
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error === undefined) return { ref, commit, repository, lock, isAbsent: false };
  const hint =
    error.code === 'MB2002'
      ? 'update mediabatch to the version that wrote it, or compare with an earlier commit'
      : `\`git show ${shellWord(`${commit.slice(0, 12)}:${there}`)}\` prints it; compare with a commit in which it is whole`;
  throw new CampaignError({ code: 'MB3607', message: error.message, hint, file: shown, ref });
}

async function readFileAt(repository: Repository, commit: string, path: string): Promise<Buffer | undefined> {
  const slash = path.lastIndexOf('/') + 1;
  const tree = await CommitTree.open(repository.folder, commit, path.slice(0, slash));
  try {
    return await tree.bytesOf(path.slice(slash), mostLockBytes);
  } finally {
    tree.close();
  }
}
