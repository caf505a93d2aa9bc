import type { Task } from '../../manifest/manifest.ts';
import { checkChoices, isAxisKnown } from '../check/check-gates.ts';
import type { Expansion } from '../expansion.ts';
import type { ExpandedTask, TaskRows } from './draft.ts';
import { expandTask } from './expand-task.ts';
import { gatesOf, seenThroughGate } from './gates.ts';
import { pickPartSteps } from './part-picks.ts';
import { rowsOfParts } from './part-rows.ts';

/** Expands tasks in this order. Parts need the steps that they are parts of, so it is topological where there is one. */
export function expandTasks(order: readonly Task[], expansion: Expansion): void {
  for (const task of order) {
    const expanded = expandTask(task, rowsForSteps(task, expansion), expansion);
    expansion.expanded.set(task.id, withGates(expanded, expansion));
  }
}

/** A gate that is wrong is reported, and left out. */
function withGates(expanded: ExpandedTask, expansion: Expansion): ExpandedTask {
  const { gate } = expanded.task;
  if (gate === undefined || !isAxisKnown(expanded, expansion)) return expanded;
  const gates = gatesOf(expanded);
  checkChoices(expanded, gates, expansion);
  return gate.is === 'approve'
    ? { ...expanded, gates }
    : { ...expanded, gates, offered: seenThroughGate(expanded, gate, gates) };
}

/** Returns the rows for a task's steps; when it goes through parts, those of the steps made before. */
function rowsForSteps(task: Task, expansion: Expansion): TaskRows {
  const rows = expansion.rowsOf(task.id);
  if (task.rows.from !== 'parts' || rows === 'unknown') return rows;
  const source = task.rows;
  const producer = expansion.expanded.get(source.task);
  if (producer === undefined || !producer.complete) return 'unknown';
  const drafts = pickPartSteps(task, { source, producer }, expansion);
  return drafts === undefined ? 'unknown' : rowsOfParts(task, { source, drafts }, expansion.manifest);
}
