import type { GraphOutline } from '../graph/outline.ts';
import { countedPurchases, joinDecisions, pinnedFingerprint } from '../lock/decisions.ts';
import type { Lock, StepRecord } from '../lock/record.ts';
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
    const [face] = countedPurchases(record);
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
 * every purchase is also on record at one that it has. Nothing that was paid for is ever left out, and what was decided
 * about it goes along.
 */
export function withoutMovedAway(lock: Lock, { addresses }: Pick<GraphOutline, 'addresses'>): Lock {
  const held = purchasesHeldBy(addresses, lock);
  const steps = new Map(lock.steps);
  for (const [address, record] of lock.steps) {
    if (addresses.has(address) || !isHeld(record, held)) continue;
    steps.delete(address);
    takeDecisionsAlong(steps, record, held);
  }
  return { ...lock, steps };
}

/** What was decided about purchases goes where they have gone. */
function takeDecisionsAlong(
  steps: Map<string, StepRecord>,
  record: StepRecord,
  held: ReadonlyMap<string, string>,
): void {
  if (record.decisions === undefined) return;
  const heirs = new Set(record.purchases.flatMap(({ jobId, key }) => held.get(jobId ?? key) ?? []));
  for (const address of heirs) {
    const heir = steps.get(address);
    if (heir === undefined) continue;
    const { forgotten, ...kept } = record.decisions;
    const also = forgotten !== undefined && isForgottenToo(record, heir, forgotten) ? { forgotten } : {};
    const decisions = joinDecisions([heir.decisions, { ...kept, ...also }]);
    if (decisions !== undefined) steps.set(address, { ...heir, decisions });
  }
}

/**
 * Only part of it was forgotten, and the mark hides nothing but that. Where all of it was forgotten, somebody has given it
 * another address on purpose, and there it counts.
 */
function isForgottenToo(record: StepRecord, heir: StepRecord, forgotten: number): boolean {
  const names = new Set(record.purchases.map(({ jobId, key }) => jobId ?? key));
  const hidden = heir.purchases.filter(({ generation }) => generation <= forgotten);
  return countedPurchases(record).length > 0 && hidden.every(({ jobId, key }) => names.has(jobId ?? key));
}

/** Job ids, and keys of creates whose answer is not known, that stand at these addresses; and at which of them. */
function purchasesHeldBy(addresses: ReadonlySet<string>, lock: Lock): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  for (const address of addresses) {
    for (const { jobId, key } of lock.steps.get(address)?.purchases ?? []) {
      held.set(key, address);
      if (jobId !== undefined) held.set(jobId, address);
    }
  }
  return held;
}

function isHeld(record: StepRecord, held: ReadonlyMap<string, string>): boolean {
  return record.purchases.every(({ jobId, key, state }) => state === 'refused' || held.has(jobId ?? key));
}
