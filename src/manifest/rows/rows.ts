import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';

/** One row of data: a scalar, or a map of columns. */
export interface Row {
  value: Json;
  /** `row 14 of products.csv`, counted from 1. */
  label: string;
  /** Where it is written; looked up only when somebody has to be told. */
  place(): Place;
  /** What names it where its task says nothing. */
  key?: string;
  /** It is a part of another step's output, counted from 0. */
  part?: { of: string; index: number };
}

/** The rows of one task. */
export interface Rows {
  rows: Row[];
  /** What they are called in a message: `products.csv`. */
  label: string;
  /** Every column that some row has, in the order of their first appearance. Absent when the rows are scalars. */
  columns?: string[];
}

/** What the reader of data files answered. */
export type DataFile =
  | { text: string }
  /** For a pattern: the files that it matches, relative to the manifest's folder, sorted. */
  | { files: string[] }
  | { problem: 'missing' | 'outside' | 'not-a-file' | 'too-large' | 'unreadable'; detail?: string };
