import type { GraphOutline } from '../graph/outline.ts';
import { countedPurchases, pinnedFingerprint } from '../lock/decisions.ts';
import { agreeOnSends, joinParts } from '../lock/join.ts';
import { factOf } from '../lock/join-purchases.ts';
import type { Lock, Purchase, StepRecord } from '../lock/record.ts';
import { isOpenSend } from '../lock/sends.ts';
import type { Match } from './match.ts';
import type { PlanRow } from './plan.ts';

/** Records of addresses that the manifest no longer has – but not those whose purchases stand, or will stand, at another. */
export function orphanRows(matches: readonly Match[], lock: Lock): PlanRow[] {
  const addresses = new Set(matches.map(({ step }) => step.address));
  const movedAway = new Set(matches.flatMap(({ movedFrom }) => movedFrom ?? []));
  const left = [...lock.steps.keys()].filter((address) => !addresses.has(address) && !movedAway.has(address));
  if (left.length === 0) return [];
  const held = purchasesHeldBy(addresses, lock);
  const rows: PlanRow[] = [];
  for (const address of left.sort()) {
    const record = lock.steps.get(address);
    if (record === undefined || isHeld(record, held)) continue;
    // An open send has a row of its own.
    const face = countedPurchases(record).find((purchase) => !isOpenSend(purchase));
    if (face === undefined) continue;
    rows.push({
      address,
      task: address.split('@')[0] ?? address,
      kind: record.kind,
      action: 'orphan',
      reason: reasonOf(record),
      credits: 0,
      ...(face.jobId !== undefined && { jobId: face.jobId }),
      ...(face.outputs?.[0] !== undefined && { output: face.outputs[0].path }),
    });
  }
  return rows;
}

/** A pin cannot hold what the manifest no longer has, so it must not go unnoticed. */
function reasonOf(record: StepRecord): string {
  const kept = 'in the lock, not in the manifest; kept';
  return pinnedFingerprint(record) === undefined ? kept : `${kept}; it was pinned: \`move\` gives it to another step`;
}

/**
 * The lock without the records that a rename has left behind: an address that the manifest does not have, and whose
 * every purchase is also on record at one that it has. Nothing that was paid for is ever left out, and what is known, or was
 * decided, about it goes along.
 */
export function withoutMovedAway(given: Lock, { addresses }: Pick<GraphOutline, 'addresses'>): Lock {
  const lock = agreeOnSends(given);
  const held = purchasesHeldBy(addresses, lock);
  const steps = new Map(lock.steps);
  for (const [address, record] of lock.steps) {
    if (addresses.has(address) || !isHeld(record, held)) continue;
    const heirs = new Set(record.purchases.flatMap((one) => held.get(nameOf(one)) ?? held.get(purchaseOf(one)) ?? []));
    // A branch may still come back that has the send open.
    if (heirs.size === 0 && record.decisions?.sends !== undefined) continue;
    steps.delete(address);
    for (const heir of heirs) bequeath(steps, record, heir);
  }
  return { ...lock, steps };
}

/** What is known of purchases, and was decided about them, goes where they have gone. */
function bequeath(
  steps: Map<string, StepRecord>,
  { kind, purchases, decisions, ...record }: StepRecord,
  to: string,
): void {
  const heir = steps.get(to);
  if (heir === undefined) return;
  const forgotten = forgottenApart({ ...record, kind, purchases });
  const facts = new Set(heir.purchases.map(factOf));
  const known = purchases.filter((one) => facts.has(factOf(one))).map(({ forgotten: _forgotten, ...one }) => one);
  const own = heir.purchases.map((one) => (forgotten.has(nameOf(one)) ? { ...one, forgotten: true as const } : one));
  const parts = [
    { ...heir, purchases: own },
    { kind, purchases: known, ...(decisions !== undefined && { decisions }) },
  ];
  steps.set(to, joinParts(to, parts));
}

/**
 * The names of what was forgotten here, where only part of it was. Where all of it was, somebody has given it another
 * address on purpose, and there it counts.
 */
function forgottenApart(record: StepRecord): ReadonlySet<string> {
  const forgotten = record.purchases.filter((purchase) => purchase.forgotten);
  return new Set(countedPurchases(record).length === 0 ? [] : forgotten.map(nameOf));
}

/** What stands at these addresses, and at which of them; what was refused also by the job that came of it in the end. */
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

/** The same wherever it stands. */
function nameOf({ state, fingerprint, key, jobId, send }: Purchase): string {
  if (jobId !== undefined) return `job ${fingerprint} ${jobId}`;
  return state === 'refused' ? `key ${key}` : `send ${send ?? ''}`;
}

function purchaseOf({ generation, fingerprint }: Purchase): string {
  return `purchase ${generation} ${fingerprint}`;
}
