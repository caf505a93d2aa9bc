import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { JsonMap, Scalar } from '../../ground/values.ts';
import type { Table, Task } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import type { Gate } from '../graph.ts';

/** The rows of a task; `none`: it has no `foreach`; `unknown`: they are wrong, which was reported. */
export type TaskRows = 'none' | 'unknown' | Rows;

export interface ReadTable {
  table: Table;
  rows: 'unknown' | Rows;
  /** By the values of the columns that it is joined on, as texts. Omitted when nothing joins it, or when it is invalid. */
  byValues?: ReadonlyMap<string, Row>;
  /** Values for which a row was missed, and reported. */
  missed: Set<string>;
  /** The mistake that names them. */
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
  /** The values of its cell as texts, by axis. */
  matrix: { [axis: string]: string };
  cell: Cell;
  take?: number | undefined;
  row?: Row | undefined;
  /** The part of another step's output that it is for, counted from 0. */
  part?: { of: string; index: number } | undefined;
}

/** A requirement on a step of another task: an axis, `key` or `take`, and its value as a text. */
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
  /** Steps that are not made because `when` is false for them. */
  leftOut: Draft[];
  complete: boolean;
  /** Finds the steps that meet all conditions, by an index instead of a scan. */
  find(conditions: readonly Condition[]): readonly Draft[];
  /** The gates of its steps. Omitted when it has none. */
  gates?: readonly Gate[];
  /** The task as others see it, where it has a gate that chooses. Its steps are named like its gates. */
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

/** Adds to a mistake the way to the step that has it, and its row. */
export function withTrail(diagnostic: Diagnostic, draft: Draft): Diagnostic {
  const { task, row, matrix, take } = draft;
  const related = row === undefined ? [] : [{ message: row.label, place: row.place() }];
  const all = [...(diagnostic.related ?? []), ...related];
  const trail = trailOf({ task: task.id, row: row?.label, matrix, take });
  return { ...diagnostic, trail, related: all.length === 0 ? undefined : all };
}
