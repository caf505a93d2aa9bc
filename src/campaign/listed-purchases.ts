import { envelope } from '../kinds/envelope.ts';
import { kinds } from '../kinds/index.ts';
import type { Lock } from '../lock/record.ts';
import { type Adoption, matchListed } from '../plan/purchases/match-listed.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import type { Library, ListedJob } from '../service/library.ts';
import { mostLookedThrough } from '../service/listing.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { withLibraryOf } from './with-library.ts';

/** Steps of listed kinds, jobs of the lists that no lock contains, and their matches. */
export interface ListedPurchases {
  listable: readonly Match[];
  jobs: readonly ListedJob[];
  adoption: Adoption<ListedJob>;
}

/**
 * Searches the service's lists for jobs with exactly the requests of steps. Free; sends no request if no kind has a
 * list. `onUnread` receives the error of a list that could not be read, and may throw; without it the error is thrown.
 */
export async function findListedPurchases(
  campaign: OpenCampaign,
  matches: readonly Match[],
  { known, onUnread }: { known(): Promise<ReadonlySet<string>>; onUnread?(kind: string, error: unknown): void },
): Promise<ListedPurchases> {
  const listable = matches.filter((match) => isUnbought(match) && kinds[match.step.kind]?.list !== undefined);
  const names = [...new Set(listable.map(({ step }) => step.kind))];
  if (names.length === 0) return { listable, jobs: [], adoption: { adopted: [], open: [] } };
  const theirs = await known();
  const listed = await withLibraryOf(campaign, ({ library }) => listAll(library, names, onUnread));
  const jobs = listed.filter(({ jobId, status }) => !theirs.has(jobId) && status !== envelope.states.failed);
  return { listable, jobs, adoption: matchListed(listable, jobs, fieldsOf) };
}

/** Whether this lock has no purchase for the step. */
export function isUnbought({ purchase, sharesJobOf, movedFrom, step }: Match): boolean {
  if (sharesJobOf !== undefined || movedFrom !== undefined || step.decided?.wanted !== undefined) return false;
  return purchase === undefined || ['refused', 'intent', 'unresolved', 'lost'].includes(purchase.state);
}

export function jobIdsOf(locks: Iterable<Lock>): Set<string> {
  const ids = new Set<string>();
  for (const { steps } of locks) {
    for (const { purchases } of steps.values())
      for (const { jobId } of purchases) if (jobId !== undefined) ids.add(jobId);
  }
  return ids;
}

function fieldsOf(kind: string): readonly string[] {
  return Object.keys(kinds[kind]?.list?.echoes ?? {});
}

async function listAll(
  library: Library,
  names: readonly string[],
  onUnread: (kind: string, error: unknown) => void = (_kind, error) => {
    throw error;
  },
): Promise<ListedJob[]> {
  const listed: ListedJob[] = [];
  for (const name of names) {
    try {
      listed.push(...(await library.jobs(name, { limit: mostLookedThrough })));
    } catch (error) {
      onUnread(name, error);
    }
  }
  return listed;
}
