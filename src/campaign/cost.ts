import { dirname, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { type FileCommit, walkFileHistory } from '../disk/git/file-history.ts';
import { openRepository, pathInRepository } from '../disk/git/repository.ts';
import type { Graph } from '../graph/graph.ts';
import { byId, takeFound } from '../lock/scan-ids.ts';
import { type Charge, listCharges } from '../plan/list-charges.ts';
import { situate } from '../plan/situation.ts';
import { type Approved, sumApproved } from '../plan/sum-approved.ts';
import { type CostDimension, type CostRow, type CostSums, sumCharges, tallyCharges } from '../plan/tally-charges.ts';
import { longestLock } from './find-locks.ts';
import { indexRunsByJob, type RunOf } from './index-runs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { readCommittedLock } from './read-committed.ts';
import { requireLock } from './read-lock.ts';

/** Costs of a campaign, and where the credits went. */
export interface Cost {
  campaign: string;
  by: readonly CostDimension[];
  /** Only what is not on record in this commit. */
  since?: { ref: string; commit: string };
  rows: CostRow[];
  totals: CostSums;
  /** Cost of what people picked, in the whole campaign; absent with `since`, and where nothing is picked at a gate. */
  approved?: Approved;
}

export interface CostOptions {
  by: readonly CostDimension[];
  /** A commit: only what was bought after it. */
  since?: string | undefined;
}

/** Sums up the charges on record. Needs git only for months, authors and `since`; asks no service, and writes nothing. */
export async function sumUpCost(campaign: OpenCampaign, graph: Graph, options: CostOptions): Promise<Cost> {
  const { by, since: ref } = options;
  const { lock } = await requireLock(campaign, undefined);
  const situation = situate(graph, lock);
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
  const rows = tallyCharges(charges, by, (charge) =>
    by.map((one) => (one === 'run' ? (runOf(charge) ?? null) : keyOf(charge, one, commits.get(charge.name)))),
  );
  return { campaign: graph.name, by, ...found, rows, totals: sumCharges(charges) };
}

function keyOf(charge: Charge, by: Exclude<CostDimension, 'run'>, commit: FileCommit | undefined): string | null {
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

/** The commit in which each charge first stands in the lock; those that are not committed yet are left out. */
async function findFirstCommits(lock: string, charges: readonly Charge[]): Promise<Map<string, FileCommit>> {
  const shown = relative('', lock) || lock;
  const repository = await openRepository(dirname(lock));
  const path = await pathInRepository(lock, repository);
  const first = new Map<string, FileCommit>();
  if (path === undefined) return first;
  const sought = byId(charges);
  await walkFileHistory(repository, { path, mostBytes: longestLock }, (commit, bytes) => {
    for (const name of takeFound(bytes, sought)) first.set(name, commit);
    return sought.size > 0;
  });
  if (repository.isShallow && [...first.values()].some(({ hasParents }) => !hasParents)) {
    throw new CampaignError({
      code: 'MB3603',
      message: `the history of ${shown} does not begin in this clone, so nobody can say when and by whom its jobs were bought`,
      hint: 'this clone is shallow: `git fetch --unshallow` brings the whole history. Without month and author no history is needed',
    });
  }
  return first;
}
