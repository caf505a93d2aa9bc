import type { Ports } from '../contract/ports.ts';
import type { PlanRow } from '../plan/plan.ts';

/** Tells of a row that this run does not act on. */
export function tellLeft(row: PlanRow, ports: Pick<Ports, 'emit'>): void {
  const { address, task, kind, action, reason, blockedBy, send } = row;
  // The step has a row of its own.
  if (send !== undefined) return;
  ports.emit({
    event: 'step-left',
    address,
    task,
    kind,
    action,
    reason: reason.text,
    ...(blockedBy !== undefined && { blockedBy }),
  });
}
