import { isScalar } from '../../ground/values.ts';
import type { Task } from '../../manifest/manifest.ts';
import { addressPart, stepAddress } from '../address.ts';
import type { Expansion } from '../expansion.ts';
import { applyCondition } from './apply-condition.ts';
import type { Cell, Cells, Draft, ExpandedTask, TaskRows } from './draft.ts';
import { indexSteps } from './join.ts';
import { keyRows } from './row-keys.ts';

/** Returns the most steps that a task can make, before any is made. `countOf` gives it for another task. */
export function countSteps(task: Task, rows: TaskRows, cells: Cells, countOf: (task: string) => number): number {
  const ofParts = task.rows.from === 'parts' ? countOf(task.rows.task) * task.rows.most : undefined;
  const rowCount = ofParts ?? (typeof rows === 'object' ? rows.rows.length : rows === 'none' ? 1 : 0);
  return rowCount * cells.cells.length * (task.takes ?? 1);
}

/** Makes every step of a task: its rows, times the cells of its matrix, times its takes. */
export function expandTask(task: Task, rows: TaskRows, expansion: Expansion): ExpandedTask {
  const cells = expansion.cells.get(task.id);
  if (cells === undefined) {
    return { task, axes: [], hasKey: false, drafts: [], leftOut: [], complete: false, find: () => [] };
  }
  const keyed = rows === 'unknown' ? [] : keyRows(task, rows, expansion);
  const takes = task.takes !== undefined && task.takes > 1 ? range(task.takes) : [undefined];
  const drafts: Draft[] = [];
  // All steps of a cell share its column: most campaigns have one cell, and many rows.
  const columns = cells.cells.map((cell) => columnOf(cell, cells.axes));
  for (const { row, key } of keyed) {
    for (const { cell, matrix, values } of columns) {
      for (const take of takes) {
        drafts.push({
          address: stepAddress(task.id, { key, values, take }),
          task,
          key,
          matrix,
          cell,
          take,
          row,
          part: row?.part,
        });
      }
    }
  }
  const complete = rows !== 'unknown' && keyed.length === (rows === 'none' ? 1 : rows.rows.length);
  const { kept, leftOut } = applyCondition(drafts, expansion);
  const find = indexSteps(kept);
  return { task, axes: cells.axes, hasKey: hasKey(task, rows), drafts: kept, leftOut, complete, find };
}

/** Prepares a cell with its values as texts, and as parts of an address. */
function columnOf(cell: Cell, axes: readonly string[]): Pick<Draft, 'cell' | 'matrix'> & { values: string[] } {
  const matrix = Object.create(null) as { [axis: string]: string };
  for (const axis of axes) matrix[axis] = String(cell[axis]);
  return { cell, matrix, values: axes.map((axis) => addressPart(matrix[axis] ?? '')) };
}

/** Tells whether the steps of a task have keys: it sets one, or its rows are texts. */
export function hasKey(task: Task, rows: TaskRows): boolean {
  if (task.key !== undefined || task.keyBroken === true) return true;
  if (task.rows.from === 'parts' || task.rows.from === 'files') return true;
  return typeof rows === 'object' && rows.rows.length > 0 && rows.rows.every((row) => isScalar(row.value));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
