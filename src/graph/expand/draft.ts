import type { Diagnostic } from '../../ground/diagnostic.ts';
import { isScalar, type Scalar } from '../../ground/values.ts';
import type { Table, Task } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import type { Gate } from '../graph.ts';

export type TaskRows = 'none' | 'unknown' | Rows;

export interface ReadTable {
  table: Table;
  rows: 'unknown' | Rows;
  /** Rows of the table by join values. Omitted if the table cannot be joined. */
  byValues?: ReadonlyMap<string, Row>;
  missed: Set<string>;
}

export type Cell = { [axis: string]: Scalar };

/** Combinations of the values of a matrix. The values of the last axis change fastest. */
export interface Cells {
  axes: string[];
  cells: Cell[];
  rows: ReadonlyMap<string, ReadonlyMap<string, Row>>;
}

/** A step before its request is rendered: the address and the values for templates. */
export interface Draft {
  address: string;
  task: Task;
  key?: string | undefined;
  matrix: { [axis: string]: string };
  cell: Cell;
  take?: number | undefined;
  row?: Row | undefined;
  part?: { of: string; index: number } | undefined;
}

export interface Condition {
  name: string;
  value: string;
}

/** Steps of a task. `complete`: false if some steps are missing because of a reported mistake. */
export interface ExpandedTask {
  task: Task;
  axes: string[];
  hasKey: boolean;
  drafts: Draft[];
  leftOut: Draft[];
  complete: boolean;
  find(conditions: readonly Condition[]): readonly Draft[];
  gates?: readonly Gate[];
  /** One step per gate with `choose`: it represents the picked steps, and other tasks refer to it. */
  offered?: ExpandedTask;
}

export function hasKey(task: Task, rows: TaskRows): boolean {
  if (task.key !== undefined || task.keyBroken === true) return true;
  if (task.rows.from === 'parts' || task.rows.from === 'files') return true;
  return typeof rows === 'object' && rows.rows.length > 0 && rows.rows.every((row) => isScalar(row.value));
}

export function trailOf(of: {
  task: string;
  row?: string | undefined;
  matrix?: { readonly [axis: string]: string };
  take?: number | undefined;
}): string[] {
  return [
    `task ${of.task}`,
    ...(of.row === undefined ? [] : [of.row]),
    ...Object.entries(of.matrix ?? {}).map(([axis, value]) => `${axis} ${value}`),
    ...(of.take === undefined ? [] : [`take ${of.take}`]),
  ];
}

export function withTrail(diagnostic: Diagnostic, draft: Draft, column?: string): Diagnostic {
  const { task, row, matrix, take } = draft;
  const related = row === undefined ? [] : [{ message: row.label, place: row.place(column) }];
  const all = [...(diagnostic.related ?? []), ...related];
  const trail = trailOf({ task: task.id, row: row?.label, matrix, take });
  return { ...diagnostic, trail, related: all.length === 0 ? undefined : all };
}
