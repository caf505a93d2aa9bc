import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { JsonMap, Scalar } from '../../ground/values.ts';
import type { Table, Task } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import type { Gate } from '../graph.ts';

/** The rows of a task. `none`: it has no `foreach`; `unknown`: they are wrong, which was reported. */
export type TaskRows = 'none' | 'unknown' | Rows;

export interface ReadTable {
  table: Table;
  rows: 'unknown' | Rows;
  /**
   * Rows by the values of the join columns, as strings. Omitted when no task joins the table, or when it cannot be
   * joined.
   */
  byValues?: ReadonlyMap<string, Row>;
  /** Values for which no row was found, as they are already reported. */
  missed: Set<string>;
  /** The diagnostic that names the values without a row. */
  missing?: Diagnostic;
}

export type Cell = { [axis: string]: Scalar };

/** The combinations of a matrix, in the order of its axes: the last axis changes fastest. */
export interface Cells {
  axes: string[];
  cells: Cell[];
  /** Attributes of the values of an axis, by axis and value. */
  rows: ReadonlyMap<string, ReadonlyMap<string, Row>>;
}

/** A step before its request is rendered: its address, and the values that its templates can use. */
export interface Draft {
  address: string;
  task: Task;
  key?: string | undefined;
  /** The values of its cell as strings, by axis. */
  matrix: { [axis: string]: string };
  cell: Cell;
  take?: number | undefined;
  row?: Row | undefined;
  /** The part of another step's output that it uses, counted from 0. */
  part?: { of: string; index: number } | undefined;
}

/** A requirement for a step of another task: an axis, `key` or `take`, and its value as a string. */
export interface Condition {
  name: string;
  value: string;
}

/** All steps of one task. `complete` is false when some are missing because of reported mistakes. */
export interface ExpandedTask {
  task: Task;
  axes: string[];
  hasKey: boolean;
  drafts: Draft[];
  /** Steps that are not made because their `when` is false. */
  leftOut: Draft[];
  complete: boolean;
  /** Finds the steps that meet all conditions. Uses an index. */
  find(conditions: readonly Condition[]): readonly Draft[];
  /** The gates of its steps. Omitted when it has none. */
  gates?: readonly Gate[];
  /** The task as other tasks see it if its gate makes a choice. The steps have the names of its gates. */
  offered?: ExpandedTask;
}

/** Returns the values of the names in a step's templates. */
export function namesOf(draft: Draft, vars: JsonMap): JsonMap {
  const names = Object.create(null) as JsonMap;
  names.vars = vars;
  if (draft.row !== undefined) names.row = draft.row.value;
  if (draft.task.matrix !== undefined) names.matrix = draft.cell;
  if (draft.key !== undefined) names.key = draft.key;
  if (draft.task.takes !== undefined) names.take = draft.take ?? 1;
  return names;
}

/** Describes how expansion led to a step, outermost first. Built only for messages, because there are many steps. */
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

/** Adds to a mistake the trail to its step, and the place of the step's row. */
export function withTrail(diagnostic: Diagnostic, draft: Draft): Diagnostic {
  const { task, row, matrix, take } = draft;
  const related = row === undefined ? [] : [{ message: row.label, place: row.place() }];
  const all = [...(diagnostic.related ?? []), ...related];
  const trail = trailOf({ task: task.id, row: row?.label, matrix, take });
  return { ...diagnostic, trail, related: all.length === 0 ? undefined : all };
}
