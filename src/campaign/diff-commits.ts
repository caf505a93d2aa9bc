import { CampaignError } from '../contract/failure.ts';
import { diffLocks, type LockDiff } from '../plan/diff-locks.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { readCommittedLock } from './read-committed.ts';
import { requireLock } from './read-lock.ts';

/** One side of a comparison: a commit, or the lock as it lies here. */
export interface DiffSide {
  /** Absent: the working tree. */
  ref?: string;
  /** Full hash. */
  commit?: string;
}

export interface CommittedDiff extends LockDiff {
  from: DiffSide;
  to: DiffSide;
}

/** Compares the locks of two commits, or of one with the working tree. Needs no manifest, and writes nothing. */
export async function diffCommits(
  campaign: Pick<OpenCampaign, 'paths' | 'file' | 'tell'>,
  from: string,
  to: string | undefined,
): Promise<CommittedDiff> {
  const before = await readCommittedLock(campaign, from);
  const after = to === undefined ? undefined : await readCommittedLock(campaign, to);
  const { lock } = after ?? (await requireLock(campaign, undefined));
  if (before.isAbsent && (after === undefined ? lock.steps.size === 0 : after.isAbsent)) {
    throw new CampaignError({
      code: 'MB3604',
      message: `there is no lock of ${campaign.file} to compare: ${from} has none, and neither has ${to ?? 'the working tree'}`,
      hint: 'a run writes the lock, and a commit puts it into git',
      file: campaign.paths.lock,
      ref: from,
    });
  }
  return {
    from: { ref: from, commit: before.commit },
    to: after === undefined ? {} : { ref: after.ref, commit: after.commit },
    ...diffLocks(before.lock, lock),
  };
}
