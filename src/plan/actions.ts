import type { Action, Plan, PlanRow, SpendingAction, StepOrder, WorkRow } from './plan.ts';
import { isPost } from './posts/post-record.ts';

/** Recognizes the actions for which a run sends a create request, which costs credits. */
export function isSpending(action: Action): action is SpendingAction {
  return action === 'create' || action === 'redo' || action === 'retry';
}

/** Returns whether a run may be charged for an order. An order that has a job, or shares one, is free. */
export function isCharged({ action, jobId, sharesJobOf }: StepOrder): boolean {
  return isSpending(action) && jobId === undefined && sharesJobOf === undefined;
}

/** Returns whether carrying out this row makes something public. */
export function publishes({ action, kind }: Pick<PlanRow, 'action' | 'kind'>): boolean {
  return isSpending(action) && isPost(kind);
}

/** Recognizes the actions that a run carries out; the others are only reported. */
export function isCarriedOut(action: Action): action is StepOrder['action'] {
  return isSpending(action) || action === 'attach' || action === 'download' || action === 'move';
}

/** Returns whether a run has something to do for this row. */
export function isWork(row: PlanRow): row is WorkRow {
  return isCarriedOut(row.action);
}

/** Returns whether a run of this plan would do anything. */
export function hasWork({ rows }: Pick<Plan, 'rows'>): boolean {
  return rows.some(isWork);
}

export function countSteps({ rows }: Pick<Plan, 'rows'>): number {
  return rows.filter(isOfStep).length;
}

/**
 * Counts the steps of a run, in total and by task, in the order of `tasks`. Steps that were not selected have no row.
 */
export function countForRun(
  { rows }: Pick<Plan, 'rows'>,
  tasks: readonly { id: string; kind: string }[],
): { steps: number; tasks: { id: string; kind: string; steps: number }[] } {
  const counts = new Map<string, number>();
  const ofSteps = rows.filter(isOfStep);
  for (const { task } of ofSteps) counts.set(task, (counts.get(task) ?? 0) + 1);
  return {
    steps: ofSteps.length,
    tasks: tasks.flatMap(({ id, kind }) => {
      const steps = counts.get(id);
      return steps === undefined ? [] : [{ id, kind, steps }];
    }),
  };
}

/** Rows of orphans belong to no step, and an open send that is asked about has a row beside the row of its step. */
function isOfStep({ action, send }: PlanRow): boolean {
  return action !== 'orphan' && send === undefined;
}

/** Returns whether a step is kept although its input changed, because it is pinned or is a published post. */
export function isHeldBack({ pinned, wouldCost, changedSince }: PlanRow): boolean {
  return (pinned === true && wouldCost !== undefined) || changedSince === true;
}

/** Returns whether every step is up to date and none is kept despite a changed input. */
export function isQuiet({ rows }: Pick<Plan, 'rows'>): boolean {
  return rows.every((row) => row.action === 'keep' && !isHeldBack(row));
}

/** Returns the addresses of the steps that must be done before this order of the same run is bought. */
export function waitsFor({ needs, canaries }: Pick<StepOrder, 'needs' | 'canaries'>): readonly string[] {
  return canaries === undefined ? needs : [...canaries, ...needs];
}

/** State of a step that is not up to date and whose outcome no run has reported. */
export function stateLeft(action: Exclude<Action, 'keep'>): 'failed' | 'blocked' | 'unresolved' | 'left' {
  return action === 'failed' || action === 'blocked' || action === 'unresolved' ? action : 'left';
}
