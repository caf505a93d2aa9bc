import { taskOfAddress } from '../../graph/address.ts';
import { type GraphOutline, outlineOf } from '../../graph/graph.ts';
import { countedPurchases, pinnedFingerprint } from '../../lock/decisions.ts';
import { agreeOnSends, joinParts } from '../../lock/join.ts';
import { factOf } from '../../lock/join-purchases.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend, mayBeCharged } from '../../lock/sends.ts';
import type { RestingRow } from '../plan.ts';
import { reasonOf } from '../reason.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';

/** Makes rows for addresses that the manifest no longer has, unless their purchases are, or will be, at another. */
export function orphanRows(matches: readonly Match[], lock: Lock): RestingRow[] {
  return orphanRecords(matches, lock).flatMap((record): RestingRow[] => {
    const { address, kind } = record;
    // An open send has a row of its own.
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
        ...(face.jobId !== undefined && { jobId: face.jobId }),
        ...(face.outputs?.[0] !== undefined && { output: face.outputs[0].path }),
      },
    ];
  });
}

/** Finds the records of addresses that the manifest no longer has, and whose purchases no other address has, or will have. */
export function orphanRecords(matches: readonly Match[], lock: Lock): StepRecord[] {
  const addresses = new Set(matches.map(({ step }) => step.address));
  const movedAway = new Set(matches.flatMap(({ movedFrom }) => movedFrom ?? []));
  const left = [...lock.steps.keys()].filter((address) => !addresses.has(address) && !movedAway.has(address));
  if (left.length === 0) return [];
  // What was renamed twice is on record at both old names, and moves away from one of them.
  const held = purchasesHeldBy(new Set([...addresses, ...movedAway]), lock);
  return left.sort().flatMap((address) => {
    const record = lock.steps.get(address);
    return record === undefined || isHeld(record, held) ? [] : [record];
  });
}

/** Mentions a pin, which cannot hold what the manifest no longer has, so that this does not go unnoticed. */
function describeOrphan(record: StepRecord): string {
  const kept = 'in the lock, not in the manifest; kept';
  return pinnedFingerprint(record) === undefined ? kept : `${kept}; it was pinned: \`move\` gives it to another step`;
}

/**
 * Returns the lock without the records that a rename left behind: addresses that the manifest does not have, whose
 * every purchase is also on record at one that it has. Paid purchases are never left out, and what is known, or was
 * decided, about them goes along.
 */
export function withoutMovedAway(given: Lock, { addresses }: Pick<GraphOutline, 'addresses'>): Lock {
  const lock = agreeOnSends(given);
  const held = purchasesHeldBy(addresses, lock);
  const steps = new Map(lock.steps);
  for (const [address, record] of lock.steps) {
    if (addresses.has(address) || !isHeld(record, held)) continue;
    const heirs = new Set(record.purchases.flatMap((one) => held.get(nameOf(one)) ?? held.get(purchaseOf(one)) ?? []));
    // A branch that still has the send open may come back.
    if (heirs.size === 0 && record.decisions?.sends !== undefined) continue;
    steps.delete(address);
    for (const heir of heirs) bequeath(steps, record, heir);
  }
  return { ...lock, steps };
}

/** Passes knowledge of purchases, and decisions about them, to the addresses that have them now. */
function bequeath(
  steps: Map<string, StepRecord>,
  { kind, purchases, decisions, ...record }: StepRecord,
  to: string,
): void {
  const heir = steps.get(to);
  if (heir === undefined) return;
  const forgotten = forgottenApart({ ...record, kind, purchases });
  const facts = new Set(heir.purchases.map(factOf));
  // A decision that a send was not charged stands with the refusal that says so: neither is written without a purchase.
  const goesAlong = (one: Purchase) =>
    facts.has(factOf(one)) || (one.state === 'refused' && decisions?.sends !== undefined); // I22
  const known = purchases.filter(goesAlong).map(({ forgotten: _forgotten, ...one }) => one);
  const own = heir.purchases.map((one) => (forgotten.has(nameOf(one)) ? { ...one, forgotten: true as const } : one));
  const bequest = { kind, purchases: known, ...(decisions !== undefined && { decisions }) };
  steps.set(to, joinParts(to, [{ ...heir, purchases: own }, bequest]));
}

/**
 * Names the purchases forgotten here, when only some were. When all were, somebody moved them to another address on
 * purpose, and there they count.
 */
function forgottenApart(record: StepRecord): ReadonlySet<string> {
  const forgotten = record.purchases.filter((purchase) => purchase.forgotten);
  return new Set(countedPurchases(record).length === 0 ? [] : forgotten.map(nameOf));
}

/** Maps the purchases at these addresses to their address; a refused one also by the job that it led to in the end. */
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

/** Names a purchase, equal wherever it is recorded. */
function nameOf(purchase: Purchase): string {
  if (isJob(purchase)) return `job ${purchase.fingerprint} ${purchase.jobId}`;
  return mayBeCharged(purchase) ? `send ${purchase.send}` : `key ${purchase.key}`;
}

function purchaseOf({ generation, fingerprint }: Purchase): string {
  return `purchase ${generation} ${fingerprint}`;
}

/** Addresses in the lock that the manifest no longer has; without those whose purchases a rename brings to another address. */
export function findOrphans({ matches, written, lock }: Situation): string[] {
  const known = new Set(matches.flatMap(({ step, movedFrom }) => [step.address, ...(movedFrom ? [movedFrom] : [])]));
  const addresses = new Set([...outlineOf(written).addresses, ...known]);
  return [...withoutMovedAway(lock, { addresses }).steps]
    .filter(
      ([address, record]) => !known.has(address) && countedPurchases(record).some(({ state }) => state !== 'refused'),
    )
    .map(([address]) => address)
    .sort();
}
