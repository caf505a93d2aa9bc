import { readPurchases } from '../disk/state/purchase-journal.ts';
import type { Graph } from '../graph/graph.ts';
import { joinInto, joinLocks } from '../lock/join.ts';
import type { Lock, Purchase, StepRecord } from '../lock/record.ts';
import { countJobs, isJob, isOpenSend, mayBeCharged } from '../lock/sends.ts';
import { emptyLock } from '../lock/write.ts';
import { restoredText } from '../plan/assemble.ts';
import { asForgotten } from '../plan/decisions/forget.ts';
import { isPost } from '../plan/posts/post-record.ts';
import { situate } from '../plan/situation/situation.ts';
import { countOf } from '../report/numbers.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { type LoadedLock, requireLock } from './read-lock.ts';

/** A lock joined with the purchases of its campaign in this machine's purchase journal. */
export interface RestoredLock extends LoadedLock {
  /** Job and send ids that the journal has and the lock lacks. Omitted if there are none. */
  restored?: ReadonlySet<string>;
  /** Whether all purchases of the lock are restored ones: its file is missing, or has none. */
  isAllRestored?: boolean;
}

/**
 * Name of a campaign's purchase journal: one for each service, account and campaign name. Undefined for sandbox
 * credits, and if service or account are unknown.
 */
export function nameOfPurchases(
  { sandbox, service, accountOf }: Pick<OpenCampaign, 'sandbox' | 'service' | 'accountOf'>,
  campaign: string,
): string | undefined {
  return sandbox || service === undefined ? undefined : accountOf(`purchases ${service} ${campaign}`);
}

/** Returns when the create requests were sent that are open in this machine's purchase journal, by id. */
export async function readSentHere(campaign: OpenCampaign, graph: Graph, lock: Lock) {
  const name = nameOfPurchases(campaign, graph.name);
  const isAsked = [...lock.steps.values()].some(({ purchases }) => purchases.some(isOpenSend));
  const records = name === undefined || !isAsked ? [] : await readPurchases(name, () => false);
  return new Map(
    records.flatMap(({ purchases }) =>
      purchases.filter(isOpenSend).map(({ send, since }) => [send, Date.parse(since ?? '')] as const),
    ),
  );
}

export type LockTerms = NonNullable<Parameters<typeof requireLock>[2]> & {
  /** Digest of the service that the lock must belong to. Omitted if no address is known or needed. */
  service?: string | undefined;
  new?: boolean | undefined;
};

/**
 * Reads the lock and adds purchases from this machine's journal that it lacks, for the steps of the graph, so that
 * purchases count even if the lock was lost. Writes nothing. `new`: the added purchases count as forgotten, except
 * posts and unresolved create requests.
 */
export async function requireRestoredLock(
  campaign: OpenCampaign,
  graph: Graph,
  options: LockTerms = {},
): Promise<RestoredLock> {
  const loaded = await requireLock(campaign, options.service, options);
  shareFingerprints(graph, loaded.lock);
  const name = nameOfPurchases(campaign, graph.name);
  if (name === undefined) return loaded;
  const records = await findLacking(name, graph, loaded.lock);
  if (records.length === 0) return loaded;
  const joined = joinLocks(loaded.lock, lockOf(records));
  const restored = idsOf(joined);
  for (const id of idsOf(loaded.lock)) restored.delete(id);
  if (restored.size === 0) return { ...loaded, lock: joined };
  if (options.new !== true) {
    const text = `${countOf(restored.size, 'purchase')} that the lock does not have ${restored.size === 1 ? 'is' : 'are'} ${restoredText}, for 0 credits`;
    campaign.tell({ is: 'notice', text });
    const isAllRestored = countJobs(loaded.lock) === 0;
    return { ...loaded, lock: joined, restored, isAllRestored, isLonger: true }; // I40 (restored)
  }
  const forgotten = forgetAt(graph, records);
  tellForgotten(campaign, records, restored);
  return { ...loaded, lock: joinLocks(loaded.lock, lockOf(forgotten)), isLonger: true };
}

/** Stores equal fingerprints of graph and lock as one text, which saves 8 MiB for 100,000 steps. */
function shareFingerprints(graph: Graph, lock: Lock): void {
  for (const { address, fingerprint } of graph.steps) {
    for (const purchase of lock.steps.get(address)?.purchases ?? []) {
      if (purchase.fingerprint === fingerprint) purchase.fingerprint = fingerprint;
    }
  }
}

async function findLacking(name: string, graph: Graph, lock: Lock): Promise<StepRecord[]> {
  // Of jobs with equal IDs, which kinds may have, only one counts: the journal's records of the others are joined again.
  const keys = new Map<string, string>();
  for (const { purchases } of lock.steps.values()) {
    for (const one of purchases) if (isJob(one)) keys.set(one.jobId, one.key);
  }
  const records = await readPurchases(name, (key, jobId) => keys.get(jobId) === key);
  if (records.length === 0) return [];
  const jobs = [...lock.steps.values()].flatMap(({ purchases }) => purchases.filter(isJob));
  const bought = new Set(jobs.map(({ key }) => key));
  const addresses = new Set(graph.steps.map(({ address }) => address));
  // A recorded job with the same idempotency key is the answer to an open send, whichever client recorded it.
  const isLacking = (one: Purchase) => !(mayBeCharged(one) && bought.has(one.key));
  const wantedBy = (fingerprints: ReadonlySet<string>) =>
    records.flatMap((record): StepRecord[] => {
      const isOut = isPost(record.kind) && addresses.has(record.address);
      const purchases = record.purchases.filter(
        (one) => (isOut || fingerprints.has(one.fingerprint)) && isLacking(one),
      );
      return purchases.length === 0 && record.closes === undefined ? [] : [{ ...record, purchases }];
    });
  const own = new Set(graph.steps.map(({ fingerprint }) => fingerprint));
  const found = wantedBy(own);
  if ((graph.gates ?? []).length === 0) return found;
  // Picked outputs are part of the requests of later steps.
  const decided = situate(graph, joinLocks(lock, lockOf(found))).matches;
  return wantedBy(new Set([...own, ...decided.map(({ step }) => step.fingerprint)]));
}

function lockOf(records: readonly StepRecord[]): Lock {
  const lock = emptyLock();
  for (const record of records) joinInto(lock.steps, record);
  return lock;
}

function idsOf({ steps }: Lock): Set<string> {
  const made = [...steps.values()].flatMap(({ purchases }) => purchases);
  return new Set(made.flatMap((one) => (isJob(one) ? one.jobId : mayBeCharged(one) ? one.send : [])));
}

/**
 * Marks records as forgotten, at the address that the graph has for their request, so that the next purchase of that
 * address uses the next idempotency key.
 */
function forgetAt(graph: Graph, records: readonly StepRecord[]): StepRecord[] {
  const addressOf = new Map(graph.steps.map(({ fingerprint, address }) => [fingerprint, address]));
  return records.flatMap((record) =>
    record.purchases.map((one) => {
      const isLasting = isPost(record.kind) || mayBeCharged(one);
      const address = isLasting ? record.address : (addressOf.get(one.fingerprint) ?? record.address);
      return { ...record, address, purchases: [isLasting ? one : asForgotten(one)] };
    }),
  );
}

function tellForgotten(
  { tell }: Pick<OpenCampaign, 'tell'>,
  records: readonly StepRecord[],
  restored: ReadonlySet<string>,
): void {
  const jobs = records.flatMap(({ kind, purchases }) =>
    isPost(kind) ? [] : purchases.filter(isJob).filter(({ jobId }) => restored.has(jobId)),
  );
  if (jobs.length === 0) return;
  const credits = jobs.reduce((sum, one) => sum + (one.credits ?? 0), 0);
  const text = `--new: ${countOf(jobs.length, 'job')} of ${countOf(credits, 'credit')} would be restored from this machine's purchase journal for 0 credits; the plan buys them again`;
  tell({ is: 'notice', text });
}
