import type { Diagnostic, DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { type JsonMap, shorten } from '../../ground/values.ts';

export interface Row {
  value: Json;
  /** Name of the row in messages, for example `row 14 of products.csv`, counted from 1. */
  label: string;
  /** Returns the place of the row, or of a cell. Called only for messages. */
  place(column?: string): Place;
  key?: string;
  /** The part of another step's output that is this row. `index` counts from 0. */
  part?: { of: string; index: number };
}

export interface Rows {
  rows: Row[];
  label: string;
  /** Columns in the order of their first appearance. Omitted if the rows are scalars. */
  columns?: string[];
  separator?: string;
  isGuess?: boolean;
  /** Cells whose value is unknown. Their errors are reported only if a template uses the column. */
  cellErrors?: readonly CellError[];
}

export interface CellError {
  row: JsonMap;
  column: string;
  error: Diagnostic;
}

export interface Workbook {
  names: readonly string[];
  sheets: readonly Sheet[];
}

export interface Sheet {
  name: string;
  cells: readonly (readonly string[])[];
  faults: readonly CellFault[];
  hiddenRows: readonly number[];
}

/** A cell whose value is unknown. `row` and `column` count from 1. */
export interface CellFault {
  row: number;
  column: number;
  /**
   * `error`: contains an error such as `#N/A`. `formula`: has no calculated value. `merged`: spans several columns.
   * `digits`: a number with more digits than a spreadsheet stores.
   */
  is: 'error' | 'formula' | 'merged' | 'digits';
  shows?: string;
}

export type DataFile =
  | { text: string }
  | { workbook: Workbook }
  /** Files that match a pattern, as sorted paths relative to the manifest's folder. */
  | { files: string[] }
  | { problem: 'missing' | 'outside' | 'not-a-file' | 'too-large' | 'unreadable' | 'no-workbook'; detail?: string };

type Problem = Extract<DataFile, { problem: string }>;

const problems: Readonly<Record<Problem['problem'], { code: DiagnosticCode; says: string; hint: string }>> = {
  missing: {
    code: 'MB1301',
    says: 'does not exist',
    hint: 'paths are relative to the manifest that contains the path; check the name, its case and its accents (é can be one or two characters)',
  },
  outside: {
    code: 'MB1303',
    says: 'is outside the folder of the manifest',
    hint: 'move the file below the folder of the manifest and name it by a relative path',
  },
  'not-a-file': { code: 'MB1301', says: 'is not a regular file', hint: 'name a file, not a folder or a device' },
  'too-large': { code: 'MB1301', says: 'is too large', hint: 'split the file into several files' },
  'no-workbook': {
    code: 'MB1302',
    says: 'cannot be read as a workbook',
    hint: 'open the file in a spreadsheet program and save it as .xlsx, or save the sheet as “CSV UTF-8”',
  },
  unreadable: {
    code: 'MB1301',
    says: 'cannot be read',
    hint: 'check the permissions of the file, and that it is UTF-8 text (Excel: save as “CSV UTF-8”)',
  },
};

export function explainFileProblem(
  name: string,
  { problem, detail }: Problem,
): { code: DiagnosticCode; message: string; hint: string } {
  const { code, says, hint } = problems[problem];
  return { code, message: `${name} ${says}${detail === undefined ? '' : ` (${shorten(detail, 120)})`}`, hint };
}

/**
 * Joins texts into one flat string. V8 stores a concatenation as a tree, and a slice together with the whole text. For
 * 100,000 strings, either one needs several times the memory.
 */
export function flatText(first: string, second: string, ...others: string[]): string {
  return [first, second, ...others].join('');
}
