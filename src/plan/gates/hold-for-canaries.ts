import { isSpending, isWork } from '../actions.ts';
import type { PlanRow } from '../plan.ts';
import { whyCanaryHolds } from '../rows/block.ts';
import type { Draft } from '../rows/draft.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import { askedCanaries, seatCanaries } from './canaries.ts';

/**
 * Lets the others wait in the run for their canaries that have not proven themselves; where one of these will not be done,
 * they are blocked at once, so that no money is kept back for them. What was sent already is collected all the same, but
 * not followed by another purchase. A step has proven something for others like it when its output is here, and is what the
 * manifest asks for.
 */
export function holdForCanaries(draft: Draft, situation: Situation): void {
  const isFit = ({ step: { address }, purchase }: Match) =>
    purchase?.state === 'done' && draft.at(address)?.action === 'keep';
  const seated = [...askedCanaries(situation.graph), ...seatCanaries({ ...situation, isFit })];
  for (const { canary, seats, others } of seated.filter(({ isProven }) => !isProven)) {
    const held = others.filter((one) => draft.isInRun(one)).flatMap((address) => draft.at(address) ?? []);
    for (const row of held) if (isSent(row)) buyOnce(row);
    const pending = seats.flatMap((address) => draft.at(address) ?? []).filter(({ action }) => action !== 'keep');
    if (canary.asks) {
      if (held.some(({ blockedBy }) => blockedBy === 'gate')) goFirst(pending);
      continue;
    }
    const buying = held.filter((row) => isSpending(row.action) && !isSent(row));
    const [bad] = pending.flatMap((row) => whyCanaryHolds(row, draft.isInRun(row.address)) ?? []);
    const canaries = pending.map(({ address }) => address);
    if (bad === undefined) {
      for (const row of buying) letWait(row, canaries);
      if (buying.length > 0) goFirst(pending);
      continue;
    }
    for (const row of buying) draft.block(row, bad.by, bad.reason); // I28 (failed)
  }
}

function goFirst(rows: readonly PlanRow[]): void {
  for (const row of rows) if (isWork(row)) row.canary = true;
}

/** Whether it has a job, or an unresolved create. */
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
