import { dirname, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { type FileCommit, readAddedRecords } from '../disk/git/file-history.ts';
import { openRepository, pathInRepository } from '../disk/git/repository.ts';
import type { Graph } from '../graph/graph.ts';
import { shell, way } from '../ground/advice.ts';
import { chargesOfLine } from '../lock/spent.ts';
import { type Charge, listCharges } from '../plan/prices/list-charges.ts';
import {
  type Approved,
  type CostDimension,
  type CostRow,
  type CostSums,
  sumApproved,
  sumCharges,
  tallyCharges,
} from '../plan/prices/tally-charges.ts';
import { situate, withFiles } from '../plan/situation/situation.ts';
import { listOwnLocks } from './find-locks.ts';
import { requireGraph } from './load-manifest.ts';
import { seeExpected } from './look-at-outputs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { CampaignPaths } from './paths.ts';
import { readCommittedLock } from './read-committed.ts';
import { runsOfLock } from './runs-of-lock.ts';
import { Session } from './session.ts';

/** Returns the run of a job by its address and id. Undefined if unknown. */
type RunOf = (job: { address: string; id: string }) => string | undefined;

/** Costs of a campaign, grouped by purpose. */
export interface Cost {
  campaign: string;
  by: readonly CostDimension[];
  /** Set if only purchases that are missing in this commit are counted. */
  since?: { ref: string; commit: string };
  rows: CostRow[];
  totals: CostSums;
  /** Cost of picked outputs in the whole campaign. Omitted with `since`, and without picks. */
  approved?: Approved;
}

export interface CostOptions {
  by: readonly CostDimension[];
  /** A commit. Only purchases that are missing in it count. */
  since?: string | undefined;
}

/**
 * Sums up the recorded charges. Needs git only for months, authors and `since`; sends no request, and writes nothing.
 */
export async function sumUpCost(campaign: OpenCampaign, graph: Graph, options: CostOptions): Promise<Cost> {
  const { by } = options;
  const { charges, keysOf, ...found } = await readCharges(campaign, graph, options);
  return { campaign: graph.name, by, ...found, rows: tallyCharges(charges, by, keysOf), totals: sumCharges(charges) };
}

/**
 * Sums up the recorded charges like `sumUpCost`, for every campaign of the tree around `paths` that has a lock next
 * to its manifest.
 */
export async function sumUpAll(
  paths: CampaignPaths,
  { by }: Pick<CostOptions, 'by'>,
  { sandbox, open }: { sandbox: boolean; open(manifest: string): Promise<OpenCampaign> },
): Promise<Omit<Cost, 'campaign'> & { leftOut: { shown: string; why: string }[] }> {
  const keys = new Map<Charge, (string | null)[]>();
  const leftOut: { shown: string; why: string }[] = [];
  for (const { shown, manifest } of await listOwnLocks(paths, { sandbox })) {
    if (manifest === undefined) {
      leftOut.push({ shown, why: 'no manifest of its name is next to it' });
      continue;
    }
    try {
      const campaign = await open(relative('', manifest) || manifest);
      const { charges, keysOf } = await readCharges(campaign, await requireGraph(campaign), { by });
      for (const charge of charges) keys.set(charge, keysOf(charge));
    } catch (error) {
      if (!(error instanceof CampaignError)) throw error;
      leftOut.push({ shown, why: error.message });
    }
  }
  const charges = [...keys.keys()];
  const rows = tallyCharges(charges, by, (charge) => keys.get(charge) ?? []);
  return { by, rows, totals: sumCharges(charges), leftOut };
}

async function readCharges(
  campaign: OpenCampaign,
  graph: Graph,
  { by, since: ref }: CostOptions,
): Promise<Pick<Cost, 'since' | 'approved'> & { charges: Charge[]; keysOf(charge: Charge): (string | null)[] }> {
  const { situation: recorded } = await Session.open(campaign, { graph, isOnlyRead: true });
  const situation = withFiles(recorded, await seeExpected(recorded, campaign));
  let charges = listCharges(situation);
  const found: Pick<Cost, 'since' | 'approved'> = {};
  if (ref !== undefined) {
    const there = await readCommittedLock(campaign, ref);
    const before = new Set(listCharges(situate(graph, there.lock)).map(({ name }) => name));
    charges = charges.filter(({ name }) => !before.has(name));
    found.since = { ref, commit: there.commit };
  } else {
    const approved = sumApproved(situation, charges);
    if (approved !== undefined) found.approved = approved;
  }
  const commits = by.some((one) => one === 'month' || one === 'author')
    ? await findFirstCommits(campaign.paths.lock, charges)
    : new Map<string, FileCommit>();
  const runOf: RunOf = by.includes('run') ? await indexRunsByJob(campaign.paths) : () => undefined;
  const keyAs = (charge: Charge, one: CostDimension) => {
    if (one === 'campaign') return graph.name;
    return one === 'run' ? (runOf(charge) ?? null) : keyOf(charge, one, commits.get(charge.name));
  };
  return { charges, ...found, keysOf: (charge) => by.map((one) => keyAs(charge, one)) };
}

function keyOf(
  charge: Charge,
  by: Exclude<CostDimension, 'run' | 'campaign'>,
  commit: FileCommit | undefined,
): string | null {
  switch (by) {
    case 'task':
    case 'kind':
    case 'model':
      return charge[by];
    case 'tag':
      return charge.tags === null ? null : [...charge.tags].sort().join(', ');
    case 'month':
      return commit?.date.slice(0, 7) ?? null;
    case 'author':
      return commit?.author ?? null;
    default:
      return by satisfies never;
  }
}

/** Returns the commit that first contains each charge in the lock. Charges that are not committed yet are omitted. */
async function findFirstCommits(lock: string, charges: readonly Charge[]): Promise<Map<string, FileCommit>> {
  const shown = relative('', lock) || lock;
  const repository = await openRepository(dirname(lock));
  const path = await pathInRepository(lock, repository);
  const first = new Map<string, FileCommit>();
  if (path === undefined) return first;
  const sought = new Set(charges.map(({ name }) => name));
  for await (const { commit, record } of readAddedRecords(repository, path)) {
    for (const name of chargesOfLine(record)) if (sought.delete(name)) first.set(name, commit);
    if (sought.size === 0) break;
  }
  if (repository.isShallow && [...first.values()].some(({ hasParents }) => !hasParents)) {
    throw new CampaignError({
      code: 'MB3603',
      message: `the git history of ${shown} is incomplete in this clone, so its purchases cannot be attributed`,
      hint: [
        way('this clone is shallow; to fetch the whole history', shell('git', 'fetch', '--unshallow')),
        'without month and author no history is needed',
      ],
    });
  }
  return first;
}

/**
 * Indexes jobs by the run that made them, from the histories of earlier runs on this lock. Only recent runs of this
 * machine have a history, so the run of an older job, or of a job from elsewhere, is unknown.
 */
export async function indexRunsByJob(paths: CampaignPaths): Promise<RunOf> {
  const byJob = new Map<string, Map<string, string>>();
  for await (const { id: run, lines } of runsOfLock(paths)) {
    for (const { event, jobId, address } of lines) {
      if (event !== 'job-created' || typeof jobId !== 'string' || typeof address !== 'string') continue;
      const known = byJob.get(jobId) ?? new Map<string, string>();
      byJob.set(jobId, known);
      // If two runs recorded the creation of a job, the earlier run counts.
      known.set(address, run);
    }
  }
  return ({ address, id }) => {
    const known = byJob.get(id);
    // The job of a renamed step is recorded under another address; jobs of two kinds can have the same id.
    return known?.get(address) ?? (known?.size === 1 ? [...known.values()][0] : undefined);
  };
}
