import type { Diagnostic } from '../diagnostic.ts';
import type { Manifest, Task } from '../manifest/manifest.ts';
import { isScalar, type JsonMap } from '../manifest/values.ts';
import { addressPart, stepAddress } from './address.ts';
import { applyCondition } from './apply-condition.ts';
import type { Draft, ExpandedTask } from './draft.ts';
import type { Cells } from './expand-matrix.ts';
import { keyRows, trailOf } from './row-keys.ts';
import type { TaskRows } from './task-rows.ts';
import type { TemplateCache } from './templates.ts';

/** How many steps a task makes at most, known before any of them is made. `countOf` tells it of another task. */
export function countSteps(task: Task, rows: TaskRows, cells: Cells, countOf: (task: string) => number): number {
  const ofParts = task.rows.from === 'parts' ? countOf(task.rows.task) * task.rows.most : undefined;
  const rowCount = ofParts ?? (typeof rows === 'object' ? rows.rows.length : rows === 'none' ? 1 : 0);
  return rowCount * cells.cells.length * (task.takes ?? 1);
}

/** Every step of a task: its rows, times the cells of its matrix, times its takes. */
export function expandTask(
  task: Task,
  from: {
    manifest: Manifest;
    rows: TaskRows;
    cells: Cells;
    vars: JsonMap;
    templates: TemplateCache;
    wrongTexts: ReadonlySet<string>;
  },
): { expanded: ExpandedTask; diagnostics: Diagnostic[] } {
  const { rows, cells } = from;
  const diagnostics: Diagnostic[] = [];
  const keyed = rows === 'unknown' ? [] : keyRows(task, { ...from, rows, diagnostics });
  const takes = task.takes !== undefined && task.takes > 1 ? range(task.takes) : [undefined];
  const drafts: Draft[] = [];
  for (const { row, key } of keyed) {
    for (const cell of cells.cells) {
      const matrix = Object.create(null) as { [axis: string]: string };
      for (const axis of cells.axes) matrix[axis] = String(cell[axis]);
      const values = cells.axes.map((axis) => addressPart(matrix[axis] ?? ''));
      for (const take of takes) {
        drafts.push({
          address: stepAddress(task.id, { key, values, take }),
          task,
          ...(key === undefined ? {} : { key }),
          matrix,
          cell,
          ...(take === undefined ? {} : { take }),
          ...(row === undefined ? {} : { row }),
          ...(row?.part === undefined ? {} : { part: row.part }),
          trail: trailOf(task, { row, cell, take }),
        });
      }
    }
  }
  const complete = rows !== 'unknown' && keyed.length === (rows === 'none' ? 1 : rows.rows.length);
  const { kept, leftOut } = applyCondition(drafts, { ...from, diagnostics });
  const expanded = { task, axes: cells.axes, hasKey: hasKey(task, rows), drafts: kept, leftOut, complete };
  return { expanded, diagnostics };
}

/** Whether the steps of a task have keys: it says so, or its rows are texts. */
export function hasKey(task: Task, rows: TaskRows): boolean {
  if (task.key !== undefined || task.keyBroken === true) return true;
  if (task.rows.from === 'parts' || task.rows.from === 'files') return true;
  return typeof rows === 'object' && rows.rows.length > 0 && rows.rows.every((row) => isScalar(row.value));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
