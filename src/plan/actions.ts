import type { Action, SpendingAction, StepOrder } from './plan.ts';

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
