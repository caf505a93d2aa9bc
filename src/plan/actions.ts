import type { Action, Plan, PlanRow, SpendingAction, StepOrder } from './plan.ts';

/** Actions for which a run sends a create, and pays. */
export function isSpending(action: Action): action is SpendingAction {
  return action === 'create' || action === 'redo' || action === 'retry';
}

/** Actions that a run carries out; the others are only said. */
export function isCarriedOut(action: Action): action is StepOrder['action'] {
  return isSpending(action) || action === 'attach' || action === 'download' || action === 'move';
}

/** Whether there is something to do for this row. */
export function isWork({ action }: { action: Action }): boolean {
  return isCarriedOut(action);
}

/** Whether a run would do anything at all. */
export function hasWork({ rows }: Pick<Plan, 'rows'>): boolean {
  return rows.some(isWork);
}

/** Whether its input changed and it stays as it is all the same: it is pinned, or it is a post that is out. */
export function isHeldBack({ wouldCost, changedSince }: PlanRow): boolean {
  return wouldCost !== undefined || changedSince === true;
}

/** Whether every step is up to date, and none is held back. */
export function isQuiet({ rows }: Pick<Plan, 'rows'>): boolean {
  return rows.every((row) => row.action === 'keep' && !isHeldBack(row));
}
