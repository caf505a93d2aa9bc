import { basename, dirname, relative } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import { lstatOrAbsent } from '../../disk/fs/plain-file.ts';
import type { Graph } from '../../graph/graph.ts';
import { call, shell, way } from '../../ground/advice.ts';
import type { Lock } from '../../lock/record.ts';
import { countJobs } from '../../lock/sends.ts';
import { nearestName } from '../../manifest/suggest.ts';
import { countOf } from '../../report/numbers.ts';
import { shellWord } from '../../report/shell-word.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { campaignPaths } from '../paths.ts';
import { findOtherLocks, type OtherLock } from './other-locks.ts';

/**
 * Ends the command where a campaign without a purchase has a lock under another name: the manifest was renamed or moved
 * without it, or `--lock` is misspelt. Whoever went on would buy, and post, everything again. Gives the other locks of the
 * tree, which tell whose files and jobs there are.
 *
 * `onlyKin`: only a lock that tells of these very steps counts.
 */
export async function requireOwnLock(
  campaign: OpenCampaign,
  { graph, lock }: { graph: Graph; lock: Lock },
  { onlyKin = false }: { onlyKin?: boolean } = {},
): Promise<readonly OtherLock[]> {
  if (countJobs(lock) > 0) return [];
  const { paths, sandbox } = campaign;
  const others = await findOtherLocks(campaign, graph);
  if (paths.isLockNamed) refuseMisspelt(campaign, others); // I40 (named)
  const orphans = others.filter(({ hasManifest }) => !hasManifest);
  const isWeak = ({ path, isBeside }: OtherLock) => isBeside && path.endsWith('.lock.jsonl');
  const takesWeak = !onlyKin && !paths.isLockNamed && !sandbox;
  const orphan = orphans.find(({ kin }) => kin > 0) ?? (takesWeak ? orphans.find(isWeak) : undefined);
  if (orphan !== undefined) throw orphanError(campaign, orphan); // I40 (orphan)
  return others;
}

/** Refuses the name of a lock that is not there, beside one that is: more often a slip than a wish to buy all again. */
function refuseMisspelt({ file, sandbox, paths }: OpenCampaign, others: readonly OtherLock[]): void {
  const own = campaignPaths(file, { sandbox }).lock;
  const near = others.filter(({ path }) => dirname(path) === dirname(paths.lock));
  const stemOf = (path: string) => basename(path).replace(/(\.lock)?\.jsonl.*$/, '');
  const nearest = nearestName(
    stemOf(paths.lock),
    near.map(({ path }) => stemOf(path)),
  );
  const meant = near.find(({ path }) => stemOf(path) === nearest) ?? others.find(({ path }) => path === own);
  if (meant === undefined) return;
  const shown = shownPath(paths.lock);
  const isThere = lstatOrAbsent(paths.lock) !== undefined;
  const isOwn = meant.path === own;
  throw new CampaignError({
    code: 'MB3411',
    message: `--lock ${shown}: ${isThere ? 'it tells of no purchase' : 'there is no such file'}, and ${meant.shown}${isOwn ? `, the lock of ${file},` : ''} tells of ${countOf(countJobs(meant.lock), 'job')}`,
    hint: [
      `did you mean ${isOwn ? 'the one beside the manifest: leave --lock out' : `--lock ${shellWord(meant.shown)}`}?`,
      way('where a lock of its own is meant, and everything bought for it, say so once', call('apply', '--new')),
    ],
    lock: shown,
  });
}

function orphanError({ file, paths }: OpenCampaign, { path, shown, kin }: OtherLock): CampaignError {
  const own = shownPath(paths.lock);
  const isThere = lstatOrAbsent(paths.lock) !== undefined;
  const lacks = isThere ? `${own} tells of no purchase` : `${file} has no lock`;
  const tells = kin > 0 ? `that one tells of ${countOf(kin, 'job')} of this very campaign` : 'what that one tells of';
  const again = kin > 0 ? ', which would be bought again' : ' may be bought again';
  const move = shell('git', 'mv', ...(isThere ? ['-f'] : []), shown, own);
  const where = dirname(path) === dirname(paths.lock) ? 'renamed' : 'moved';
  return new CampaignError({
    code: 'MB3410',
    message: `${lacks}, and ${shown} has no manifest: ${tells}${again}`,
    hint: [
      way(`when the manifest was ${where}, its lock goes with it`, move),
      `where that lock is used by its name: --lock ${shellWord(shown)}`,
      way('when this is another campaign, say so once', call('apply', '--new')),
    ],
    lock: shown,
  });
}

export function shownPath(path: string): string {
  return relative('', path) || path;
}
