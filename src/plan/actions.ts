import type { Action, Plan, PlanRow, SpendingAction, StepOrder, WorkRow } from './plan.ts';
import { isPost } from './posts/post-record.ts';

export function isSpending(action: Action): action is SpendingAction {
  return action === 'create' || action === 'redo' || action === 'retry';
}

export function isCharged({ action, jobId, sharesJobOf }: StepOrder): boolean {
  return isSpending(action) && jobId === undefined && sharesJobOf === undefined;
}

export function publishes({ action, kind }: Pick<PlanRow, 'action' | 'kind'>): boolean {
  return isSpending(action) && isPost(kind);
}

export function isCarriedOut(action: Action): action is StepOrder['action'] {
  return isSpending(action) || action === 'attach' || action === 'download' || action === 'move';
}

export function isWork(row: PlanRow): row is WorkRow {
  return isCarriedOut(row.action);
}

export function hasWork({ rows }: Pick<Plan, 'rows'>): boolean {
  return rows.some(isWork);
}

export function countSteps({ rows }: Pick<Plan, 'rows'>): number {
  return rows.filter(isOfStep).length;
}

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

function isOfStep({ action, send }: PlanRow): boolean {
  return action !== 'orphan' && send === undefined;
}

/** Returns whether a step keeps its output although its input changed, because it is pinned or a published post. */
export function isHeldBack({ pinned, wouldCost, changedSince }: PlanRow): boolean {
  return (pinned === true && wouldCost !== undefined) || changedSince === true;
}

export function isQuiet({ rows }: Pick<Plan, 'rows'>): boolean {
  return rows.every((row) => row.action === 'keep' && !isHeldBack(row));
}

export function waitsFor({ needs, canaries }: Pick<StepOrder, 'needs' | 'canaries'>): readonly string[] {
  return canaries === undefined ? needs : [...canaries, ...needs];
}

export function stateLeft(action: Exclude<Action, 'keep'>): 'failed' | 'blocked' | 'unresolved' | 'left' {
  return action === 'failed' || action === 'blocked' || action === 'unresolved' ? action : 'left';
}
