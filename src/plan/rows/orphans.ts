import { taskOfAddress } from '../../graph/address.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import { defined } from '../../ground/values.ts';
import { countedPurchases, pinnedFingerprint } from '../../lock/decisions.ts';
import { agreeOnSends, factOf, joinParts } from '../../lock/join.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend, mayBeCharged } from '../../lock/sends.ts';
import { type RestingRow, reasonOf } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';

export function orphanRows(matches: readonly Match[], lock: Lock): RestingRow[] {
  return orphanRecords(matches, lock).flatMap((record): RestingRow[] => {
    const { address, kind } = record;
    // Unresolved create requests are skipped, because each request has a separate row.
    const face = countedPurchases(record).find((purchase) => !isOpenSend(purchase));
    if (face === undefined) return [];
    return [
      {
        address,
        task: taskOfAddress(address),
        kind,
        action: 'orphan',
        reason: reasonOf('orphan', describeOrphan(record)),
        credits: 0,
        ...defined({ jobId: face.jobId }),
        ...(face.outputs?.[0] !== undefined && { output: face.outputs[0].path }),
      },
    ];
  });
}

/**
 * Finds records of addresses that are missing from the manifest. Skips a record if a step uses one of its purchases.
 */
export function orphanRecords(matches: readonly Match[], lock: Lock): StepRecord[] {
  const addresses = new Set(matches.map(({ step }) => step.address));
  const movedAway = new Set(matches.flatMap(({ movedFrom }) => movedFrom ?? []));
  const left = [...lock.steps.keys()].filter((address) => !addresses.has(address) && !movedAway.has(address));
  if (left.length === 0) return [];
  // A step that was renamed twice has records at two old addresses, but its purchase moves from only one of them.
  const held = purchasesHeldBy(new Set([...addresses, ...movedAway]), lock);
  return left.sort().flatMap((address) => {
    const record = lock.steps.get(address);
    return record === undefined || isHeld(record, held) ? [] : [record];
  });
}

function describeOrphan(record: StepRecord): string {
  const kept = 'in the lock, not in the manifest; kept';
  return pinnedFingerprint(record) === undefined
    ? kept
    : `${kept}; pinned: \`move\` assigns the purchase to another step`;
}

/**
 * Removes the old records of renamed steps: the manifest lacks the old address, and other addresses have all purchases
 * of the record. Facts and decisions about these purchases move to the new address.
 */
export function withoutMovedAway(given: Lock, { addresses }: Pick<GraphOutline, 'addresses'>): Lock {
  const lock = agreeOnSends(given);
  const away = [...lock.steps.values()].filter(({ address }) => !addresses.has(address));
  if (away.length === 0) return lock;
  const held = purchasesHeldBy(addresses, lock);
  const steps = new Map(lock.steps);
  for (const record of away) {
    if (!isHeld(record, held)) continue;
    const heirs = new Set(record.purchases.flatMap((one) => held.get(nameOf(one)) ?? held.get(purchaseOf(one)) ?? []));
    // The old record is not removed: a branch on which the create request is unresolved may be merged later.
    if (heirs.size === 0 && record.decisions?.sends !== undefined) continue;
    steps.delete(record.address);
    for (const heir of heirs) bequeath(steps, record, heir);
  }
  return { ...lock, steps };
}

function bequeath(
  steps: Map<string, StepRecord>,
  { kind, purchases, decisions, ...record }: StepRecord,
  to: string,
): void {
  const heir = steps.get(to);
  if (heir === undefined) return;
  const forgotten = forgottenApart({ ...record, kind, purchases });
  const facts = new Set(heir.purchases.map(factOf));
  // The decision that a request was not charged is stored with its refusal, so the refusal must move as well.
  const goesAlong = (one: Purchase) =>
    facts.has(factOf(one)) || (one.state === 'refused' && decisions?.sends !== undefined); // I22
  const known = purchases.filter(goesAlong).map(({ forgotten: _forgotten, ...one }) => one);
  const own = heir.purchases.map((one) => (forgotten.has(nameOf(one)) ? { ...one, forgotten: true as const } : one));
  const bequest = { kind, purchases: known, ...defined({ decisions }) };
  steps.set(to, joinParts(to, [{ ...heir, purchases: own }, bequest]));
}

function forgottenApart(record: StepRecord): ReadonlySet<string> {
  const forgotten = record.purchases.filter((purchase) => purchase.forgotten);
  return new Set(countedPurchases(record).length === 0 ? [] : forgotten.map(nameOf));
}

/**
 * Maps purchases to addresses, by ID and by generation, because a refusal at one address may have become a job at
 * another.
 */
function purchasesHeldBy(addresses: ReadonlySet<string>, lock: Lock): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  for (const address of addresses) {
    for (const purchase of lock.steps.get(address)?.purchases ?? []) {
      held.set(nameOf(purchase), address);
      if (purchase.jobId !== undefined) held.set(purchaseOf(purchase), address);
    }
  }
  return held;
}

function isHeld(record: StepRecord, held: ReadonlyMap<string, string>): boolean {
  return record.purchases.every((purchase) => purchase.state === 'refused' || held.has(nameOf(purchase)));
}

function nameOf(purchase: Purchase): string {
  if (isJob(purchase)) return `job ${purchase.fingerprint} ${purchase.jobId}`;
  return mayBeCharged(purchase) ? `send ${purchase.send}` : `key ${purchase.key}`;
}

function purchaseOf({ generation, fingerprint }: Purchase): string {
  return `purchase ${generation} ${fingerprint}`;
}

export function findOrphans({ matches, lock }: Pick<Situation, 'matches' | 'lock'>): string[] {
  return orphanRecords(matches, lock).flatMap((record) =>
    countedPurchases(record).some(({ state }) => state !== 'refused') ? [record.address] : [],
  );
}
