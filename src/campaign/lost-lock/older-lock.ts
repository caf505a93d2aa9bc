import { basename, dirname } from 'node:path';
import { systemClock } from '../../contract/clock.ts';
import { findInWorktrees, readLastCommitted } from '../../disk/git/git-command.ts';
import { readLockBytes } from '../../disk/lock/lock-file.ts';
import { digestOfLock, findPurchases } from '../../disk/state/spending-files.ts';
import { kinds } from '../../kinds/index.ts';
import { readLock } from '../../lock/read.ts';
import type { Lock } from '../../lock/record.ts';
import { countJobs } from '../../lock/sends.ts';
import { publishes } from '../../plan/actions.ts';
import type { Plan, StepOrder } from '../../plan/plan.ts';
import { isBought } from '../../plan/prices/spend-consent.ts';
import { isReplayed } from '../../plan/purchases/open-sends.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { runsOfLock } from '../runs-of-lock.ts';
import type { Traces } from './traces.ts';

/** A purchase that is planned, and was charged on this machine for the same lock. */
interface Charged {
  order: StepOrder;
  /** When it was first sent, in ms since 1970. */
  since: number;
  /** Whether the lock has begun anew since. */
  isGivenUp: boolean;
}

/**
 * Purchases of a plan that were charged on this machine for this lock, or for one of `others`, in this month or the one
 * before, and that this lock does not know. One of another address has the same key: of a step that shared its job, or a
 * twin that was forgotten.
 */
export async function findCharged(
  { rows }: Plan,
  lockPath: string,
  others: () => Promise<readonly string[]> = async () => [],
): Promise<Charged[]> {
  const orders = rows.flatMap((row) =>
    (isBought(row) || publishes(row)) && row.order !== undefined && row.order.send === undefined ? [row.order] : [],
  );
  const known = await findPurchases(new Set(orders.map(({ key }) => key)));
  const isCharged = [...known.values()].some(({ chargedFor }) => chargedFor.size > 0);
  const own = digestOfLock(lockPath);
  const locks = [own, ...(isCharged ? await others() : []).map(digestOfLock)];
  const bytes = isCharged ? await readLockBytes(lockPath) : undefined;
  const told = bytes === undefined ? new Set() : keysOf(readLock(lockPath, bytes).lock);
  return orders.flatMap((order) => {
    const { since, chargedFor, givenUpBy } = known.get(order.key) ?? {};
    if (since === undefined || told.has(order.key) || !locks.some((lock) => chargedFor?.has(lock))) return [];
    return [{ order, since, isGivenUp: givenUpBy?.has(own) === true }];
  });
}

/**
 * Finds what was charged for a lock that tells of other purchases and not of these: an older version of it was put back,
 * by a checkout, a stash or a backup, or it is that of another working tree. `undefined`: nothing, or only what its key brings back without a charge.
 */
export async function findForgotten(campaign: OpenCampaign, plan: Plan): Promise<Traces | undefined> {
  const { paths, sandbox, replays } = campaign;
  if (sandbox) return undefined;
  const now = systemClock.now();
  const heals = ({ order, since }: Charged) =>
    kinds[order.kind]?.recovery === 'replay' && replays === 'yes' && isReplayed(now - since);
  const charged = await findCharged(plan, paths.lock, () => findInWorktrees(dirname(paths.lock), basename(paths.lock)));
  const orders = charged.flatMap((one) => (one.isGivenUp || heals(one) ? [] : [one.order])); // I40 (older)
  if (orders.length === 0) return undefined;
  const jobs = await findJobs(campaign, new Set(orders.map(({ key }) => key)));
  const committed = await findCommitted(campaign, orders);
  return {
    files: [],
    bought: orders.map(({ address, key }) => ({ address, jobId: jobs.get(key) })),
    ...(committed && { committed }),
    wrote: false,
    heals: false,
  };
}

/** Jobs by the keys that they were bought under, as far as the history of runs tells. */
async function findJobs({ paths }: OpenCampaign, keys: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const jobs = new Map<string, string>();
  for await (const { lines } of runsOfLock(paths)) {
    const keyOf = new Map<unknown, unknown>();
    for (const { event, address, key, jobId } of lines) {
      if (event === 'create-intended') keyOf.set(address, key);
      const sent = keyOf.get(address);
      if (event !== 'job-created' || typeof jobId !== 'string' || typeof sent !== 'string') continue;
      if (keys.has(sent) && !jobs.has(sent)) jobs.set(sent, jobId);
    }
  }
  return jobs;
}

/** The lock of the last commit, if that tells of all of these. */
async function findCommitted({ paths }: OpenCampaign, orders: readonly StepOrder[]): Promise<Traces['committed']> {
  const found = await readLastCommitted(dirname(paths.lock), basename(paths.lock));
  if (found === undefined) return undefined;
  const { lock } = readLock(paths.lock, found.bytes);
  const keys = keysOf(lock);
  return orders.every(({ key }) => keys.has(key)) ? { jobs: countJobs(lock), commit: found.commit } : undefined;
}

/** A key that was refused bought nothing then, and may have since. */
function keysOf({ steps }: Lock): ReadonlySet<string> {
  const made = [...steps.values()].flatMap(({ purchases }) => purchases.filter(({ state }) => state !== 'refused'));
  return new Set(made.map(({ key }) => key));
}
