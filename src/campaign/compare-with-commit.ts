import { basename, relative, resolve, sep } from 'node:path';
import { basename as baseOf, dirname as folderOf } from 'node:path/posix';
import { CampaignError, orFailure } from '../contract/failure.ts';
import { CommitTree } from '../disk/git/commit-tree.ts';
import { askGit } from '../disk/git/git-command.ts';
import {
  findMergeBase,
  findPathAt,
  openRepository,
  pathInRepository,
  type Repository,
  resolveCommit,
} from '../disk/git/repository.ts';
import { readManifestText } from '../disk/inputs.ts';
import type { Graph } from '../graph/graph.ts';
import { shell, way } from '../ground/advice.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { emptyLock } from '../lock/write.ts';
import { type Comparison, compareVersions } from '../plan/compare/compare-versions.ts';
import type { PlanTotals } from '../plan/plan.ts';
import {
  type Approved,
  type CostDimension,
  type CostRow,
  type CostSums,
  listCharges,
  sumApproved,
  sumCharges,
  tallyCharges,
} from '../plan/prices/charges.ts';
import { situate, withFiles } from '../plan/situation/situation.ts';
import type { CheckedGraph } from './checked-graph.ts';
import { longestLock } from './find-locks.ts';
import { loadWithNames } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { planByLock, seeExpected } from './outputs-on-disk.ts';
import { shownPath } from './paths.ts';
import { type Campaign, checkedOf } from './plan.ts';
import { findPriceHints } from './service-facts.ts';
import { Session } from './session.ts';

export interface CommitComparison extends Comparison {
  campaign: string;
  ref: string;
  commit: string;
  /** `left`: remaining budget. Omitted without a budget, or if no purchases remain. */
  fit?: { left: number } & NonNullable<PlanTotals['fit']>;
}

export async function compareWithCommit(
  campaign: OpenCampaign,
  { graph, origins, facts }: CheckedGraph,
  { ref, serviceMoved }: { ref: string; serviceMoved?: boolean | undefined },
): Promise<CommitComparison> {
  const { lock, situation } = await Session.open(campaign, { graph, service: campaign.service, serviceMoved });
  const there = await readCommittedCampaign(campaign, ref);
  const { commit, repository } = there;
  if (there.isAbsent && lock.steps.size > 0) {
    campaign.notify({
      is: 'notice',
      text: `the lock is not in ${ref}, so the comparison assumes that nothing was bought at that commit`,
    });
  }
  const base = await findMergeBase(repository, commit, 'HEAD');
  if (base !== undefined && base !== commit) {
    const text = `${ref} has commits that this branch lacks, so the comparison shows their changes as removed. To exclude these commits, compare with the merge base ${base.slice(0, 12)}`;
    campaign.notify({ is: 'notice', text });
  }
  const matches = [...situation.matches, ...situate(there.graph, lock).matches];
  const everything = new Set(matches.map(({ step }) => step.address));
  const hints = await findPriceHints(campaign, { graph, lock, matches, redo: everything, facts });
  const { budgetLeft: left, fit } = planByLock(campaign, situation, { hints }).totals;
  const compared = compareVersions(there, { graph, lock, origins }, { hints });
  const more = fit !== undefined && left !== undefined ? { fit: { left, ...fit } } : {};
  return { campaign: graph.name, ref, commit, ...compared, ...more };
}

/**
 * Compares a loaded campaign with a git commit: steps, credits, and paid outputs that would no longer be used. Sends
 * and writes nothing. Throws if either version has errors.
 */
export async function compare(campaign: Campaign, ref: string): Promise<CommitComparison> {
  return orFailure(compareWithCommit(campaign, checkedOf(campaign), { ref }));
}

/** Returns the credits of the campaign, grouped by the dimensions in `by`. Sends and writes nothing. */
export async function cost(campaign: Campaign, options: Pick<Cost, 'by'> = { by: ['task'] }): Promise<Cost> {
  return orFailure(sumUpCost(campaign, checkedOf(campaign).graph, options));
}

interface CommittedCampaign {
  graph: Graph;
  lock: Lock;
  isAbsent: boolean;
  commit: string;
  repository: Repository;
}

/** Reads a campaign from a commit, even if its file was renamed later. Throws MB3604 if the campaign is not valid. */
export async function readCommittedCampaign(campaign: OpenCampaign, ref: string): Promise<CommittedCampaign> {
  const { file, paths } = campaign;
  const repository = await openRepository(paths.folder);
  const commit = await resolveCommit(repository, ref);
  const own = `${repository.prefix}${basename(file)}`;
  const path = await findPathAt(repository, commit, own);
  if (path === undefined) throw missingInCommit(file, { ref, isShallow: repository.isShallow });
  const folder = folderOf(path);
  const tree = await CommitTree.open(repository.folder, commit, folder === '.' ? '' : `${folder}/`);
  try {
    const reader = {
      isEarlier: true as const,
      manifest: () => tree.manifest(baseOf(path)),
      // The user names the variable file with `--var-file`, so a file that is not in the commit is read from the disk.
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
      throw unusable(
        file,
        ref,
        `the campaign has mistakes at this commit; the first: ${where}${mistake?.message ?? ''}`,
      );
    }
    return { graph, commit, repository, ...(await readLockAt(campaign, { ref, commit, repository })) };
  } catch (error) {
    if (!(error instanceof CampaignError) || error.failure.code !== 'MB1001') throw error;
    throw unusable(file, ref, error.failure.message);
  }
}

async function readLockAt(
  { paths }: OpenCampaign,
  { ref, commit, repository }: { ref: string; commit: string; repository: Repository },
): Promise<Pick<CommittedCampaign, 'lock' | 'isAbsent'>> {
  const own = await pathInRepository(paths.lock, repository);
  const path = own === undefined ? undefined : await findPathAt(repository, commit, own);
  if (path === undefined) return { lock: emptyLock(), isAbsent: true };
  const shown = shownPath(paths.lock);
  const bytes = await askGit(repository.folder, ['cat-file', 'blob', `${commit}:${path}`], { mostBytes: longestLock });
  const { lock, diagnostics } = readLock(`${shown} at ${ref}`, bytes);
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error === undefined) return { lock, isAbsent: false };
  const hint = 'compare with a commit in which the lock is valid';
  throw new CampaignError({ code: 'MB3604', message: error.message, hint, file: shown, ref });
}

function missingInCommit(file: string, { ref, isShallow }: { ref: string; isShallow: boolean }): CampaignError {
  const hint = isShallow
    ? way('this clone is shallow; to fetch the full history', shell('git', 'fetch', '--unshallow'))
    : way(
        'compare with a commit that contains the file; to list such commits',
        shell('git', 'log', '--follow', '--oneline', '--', file),
      );
  const message = `${file} is not in ${ref}, not even under an earlier name`;
  return new CampaignError({ code: 'MB3604', message, hint, file, ref });
}

function unusable(file: string, ref: string, why: string): CampaignError {
  return new CampaignError({
    code: 'MB3604',
    message: `${file} at ${ref}: ${why}`,
    hint: 'compare with a commit in which the campaign has no mistakes',
    file,
    ref,
  });
}

export interface Cost {
  campaign: string;
  by: readonly CostDimension[];
  rows: CostRow[];
  totals: CostSums;
  /** Cost of picked outputs. Omitted if no output is picked. */
  approved?: Approved;
}

export async function sumUpCost(campaign: OpenCampaign, graph: Graph, { by }: Pick<Cost, 'by'>): Promise<Cost> {
  const { situation: recorded } = await Session.open(campaign, { graph, isOnlyRead: true });
  const situation = withFiles(recorded, await seeExpected(recorded, campaign));
  const charges = listCharges(situation);
  const sums = { rows: tallyCharges(charges, by), totals: sumCharges(charges) };
  const approved = sumApproved(situation, charges);
  return { campaign: graph.name, by, ...sums, ...(approved !== undefined && { approved }) };
}
