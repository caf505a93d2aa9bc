import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';

/** One row of data: a scalar, or a map of columns. */
export interface Row {
  value: Json;
  /** `row 14 of products.csv`, counted from 1. */
  label: string;
  /** Where it is written; computed only for messages. */
  place(): Place;
  /** Its key, unless the task sets one. */
  key?: string;
  /** The part of another step's output that it is, counted from 0. */
  part?: { of: string; index: number };
}

export interface Rows {
  rows: Row[];
  /** Their name in a message: `products.csv`. */
  label: string;
  /** All columns of the rows, in the order of their first appearance. Absent when the rows are scalars. */
  columns?: string[];
  /** Separator of columns, where it is no comma. */
  separator?: string;
  /** The separator was recognized: nobody said it. */
  isGuess?: boolean;
}

/** A workbook of a spreadsheet: the names of its visible sheets, and those that were asked for. */
export interface Workbook {
  names: readonly string[];
  sheets: readonly Sheet[];
}

export interface Sheet {
  name: string;
  /** Its cells as texts, from A1 on. */
  cells: readonly (readonly string[])[];
  faults: readonly CellFault[];
  /** Rows that are not shown, counted from 1. */
  hiddenRows: readonly number[];
}

/** A cell whose value nobody knows. Row and column count from 1. */
export interface CellFault {
  row: number;
  column: number;
  /** `error`: it shows one, as in `#N/A`. `formula`: it was never calculated. `merged`: it spans columns. */
  is: 'error' | 'formula' | 'merged';
  shows?: string;
}

export type DataFile =
  | { text: string }
  | { workbook: Workbook }
  /** Files that match a pattern, relative to the manifest's folder, sorted. */
  | { files: string[] }
  | { problem: 'missing' | 'outside' | 'not-a-file' | 'too-large' | 'unreadable' | 'no-workbook'; detail?: string };
