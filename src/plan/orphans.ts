import type { GraphOutline } from '../graph/outline.ts';
import { countedPurchases, joinDecisions, pinnedFingerprint } from '../lock/decisions.ts';
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
  return pinnedFingerprint(record) === undefined
    ? kept
    : `${kept}; it was pinned: \`mediabatch move\` gives it to another step`;
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
  const heirs = new Set(record.purchases.flatMap((purchase) => held.get(nameOf(purchase)) ?? []));
  const forgotten = forgottenApart(record);
  if (record.decisions === undefined && forgotten.size === 0) return;
  for (const address of heirs) {
    const heir = steps.get(address);
    if (heir === undefined) continue;
    const decisions = joinDecisions([heir.decisions, record.decisions]);
    const purchases = heir.purchases.map((one) =>
      forgotten.has(nameOf(one)) ? { ...one, forgotten: true as const } : one,
    );
    steps.set(address, { ...heir, purchases, ...(decisions !== undefined && { decisions }) });
  }
}

/**
 * The names of what was forgotten here, where only part of it was. Where all of it was, somebody has given it another
 * address on purpose, and there it counts.
 */
function forgottenApart(record: StepRecord): ReadonlySet<string> {
  const forgotten = record.purchases.filter((purchase) => purchase.forgotten);
  return new Set(countedPurchases(record).length === 0 ? [] : forgotten.map(nameOf));
}

/** Jobs, and sends whose answer is not known, that stand at these addresses or are closed; and at which of them. */
function purchasesHeldBy(addresses: ReadonlySet<string>, lock: Lock): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  for (const address of addresses) {
    const record = lock.steps.get(address);
    for (const id of [...(record?.closes ?? []), ...(record?.decisions?.sends ?? [])]) held.set(`send ${id}`, address);
    for (const purchase of record?.purchases ?? []) held.set(nameOf(purchase), address);
  }
  return held;
}

function isHeld(record: StepRecord, held: ReadonlyMap<string, string>): boolean {
  return record.purchases.every((purchase) => purchase.state === 'refused' || held.has(nameOf(purchase)));
}

/** The same wherever it stands. */
function nameOf(purchase: Purchase): string {
  const { fingerprint, jobId, send } = purchase;
  return jobId === undefined ? `send ${send ?? ''}` : `job ${fingerprint} ${jobId}`;
}
