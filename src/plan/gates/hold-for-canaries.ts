import { isSpending, isWork } from '../actions.ts';
import type { PlanRow } from '../plan.ts';
import { whyCanaryHolds } from '../rows/block.ts';
import { buyOnce, type Draft } from '../rows/draft.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import { askedCanaries, seatCanaries } from './canaries.ts';

/**
 * Makes steps wait during the run for canaries that are not proven yet. If a canary will not be done, they are blocked
 * at once, so that no credits are reserved for them. Their existing jobs and create requests are still collected, but
 * nothing more is bought. A canary is proven when its output is on this disk and is what the manifest asks for now.
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

function isSent({ action, order }: PlanRow): boolean {
  return action === 'attach' || order?.send !== undefined;
}

function letWait(row: PlanRow, canaries: string[]): void {
  if (row.order === undefined || canaries.length === 0) return;
  row.canaries = canaries;
  row.order.canaries = canaries;
}
