import { isCarriedOut, isSpending } from './actions.ts';
import { block, whyCanaryHolds } from './block.ts';
import type { SeatedCanary } from './canaries.ts';
import type { PlanRow } from './plan.ts';

/**
 * Lets the others wait in the run for their canaries that have not proven themselves; where one of these will not be done,
 * they are blocked at once, so that no money is kept back for them. What was sent already is collected all the same, but
 * not followed by another purchase. `rows`: those that the run is about.
 */
export function holdForCanaries(
  rows: readonly PlanRow[],
  everyRow: readonly PlanRow[],
  seated: readonly SeatedCanary[],
): void {
  const open = seated.filter(({ isProven }) => !isProven);
  if (open.length === 0) return;
  const byAddress = new Map(everyRow.map((row) => [row.address, row]));
  const inRun = new Map(rows.map((row) => [row.address, row]));
  for (const { canary, seats, others } of open) {
    const held = others.flatMap((address) => inRun.get(address) ?? []);
    for (const row of held) if (isSent(row)) buyOnce(row);
    const pending = seats.flatMap((address) => byAddress.get(address) ?? []).filter(({ action }) => action !== 'keep');
    if (canary.asks) {
      if (held.some(({ blockedBy }) => blockedBy === 'gate')) goFirst(pending);
      continue;
    }
    const buying = held.filter((row) => isSpending(row.action) && !isSent(row));
    const [bad] = pending.flatMap((row) => whyCanaryHolds(row, inRun.has(row.address)) ?? []);
    const canaries = pending.map(({ address }) => address);
    if (bad === undefined) {
      for (const row of buying) letWait(row, canaries);
      if (buying.length > 0) goFirst(pending);
      continue;
    }
    for (const row of buying) block(row, bad.by, bad.reason); // I28 (failed)
  }
}

function goFirst(rows: readonly PlanRow[]): void {
  for (const row of rows) if (isCarriedOut(row.action)) row.canary = true;
}

/** It has a job, or may have one. */
function isSent({ action, order }: PlanRow): boolean {
  return action === 'attach' || order?.send !== undefined;
}

function buyOnce(row: PlanRow): void {
  delete row.order?.retries;
  delete row.mayRetry;
}

function letWait(row: PlanRow, canaries: string[]): void {
  if (row.order === undefined || canaries.length === 0) return;
  row.canaries = canaries;
  row.order.canaries = canaries;
}
