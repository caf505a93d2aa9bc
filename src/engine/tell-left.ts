import type { Ports } from '../contract/ports.ts';
import type { PlanRow } from '../plan/plan.ts';

/** Tells of a row that this run does not act on. */
export function tellLeft(row: PlanRow, { emit }: Pick<Ports, 'emit'>): void {
  const { address, task, kind, action, blockedBy, send } = row;
  // The step has a row of its own.
  if (send !== undefined) return;
  const { text: reason, need } = row.reason;
  const by = { ...(blockedBy !== undefined && { blockedBy }), ...(need !== undefined && { need }) };
  emit({ event: 'step-left', address, task, kind, action, reason, ...by });
}
