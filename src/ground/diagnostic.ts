import type { Advice, Shell } from './advice.ts';

/** `line` and `column` start at 1. `offset` starts at 0 and counts UTF-16 units. */
export interface Position {
  line: number;
  column: number;
  offset: number;
}

/** A range in a text file or, with `sheet`, a cell of a workbook, whose row is `line`. `end` is exclusive. */
export interface Place {
  file: string;
  sheet?: string;
  start: Position;
  end: Position;
}

/** A mistake in the user's files. Mistakes are collected and reported together. */
export interface Diagnostic {
  code: DiagnosticCode;
  severity: 'error' | 'warning';
  /** States what the file contains and which rule it violates. The message is one sentence without a full stop. */
  message: string;
  /** One sentence that says how to correct the mistake. Commands in the hint are complete, ready to paste. */
  hint?: Advice<Shell> | undefined;
  place?: Place | undefined;
  /** Other places: of the first definition, for a duplicate; of every reference, for a cycle. */
  related?: { message: string; place: Place }[] | undefined;
  /** The corrected text, if the intended meaning is clear. */
  fix?: { place: Place; text: string } | undefined;
  /** Step or part with the mistake, outermost first: `task hero`, `row 14 of products.csv`, `ratio 9:16`. */
  trail?: string[] | undefined;
  /** Number of diagnostics that are omitted from a long list. Set on one diagnostic of the list. */
  omitted?: DiagnosticCounts | undefined;
}

interface DiagnosticCounts {
  errors: number;
  warnings: number;
}

/** Codes are never reused. */
export const codes = {
  // YAML syntax of the file
  MB1001: 'the manifest cannot be read',
  MB1003: 'the manifest is not valid YAML',
  MB1004: 'a key is duplicated',
  MB1007: 'a manifest, a template or an expansion is too large',
  MB1008: 'a template is not quoted',
  MB1009: 'a # starts a comment inside a string',
  MB1010: 'an included manifest cannot be read',
  // Structure of the file
  MB1101: 'a key is unknown',
  MB1102: 'a required key is missing',
  MB1103: 'a value has the wrong type or form',
  MB1104: 'the manifest sets the service URL or key',
  MB1105: 'the manifest needs another version of mediabatch',
  MB1106: 'a string or number cannot be represented in JSON',
  // Templates
  MB1201: 'a template cannot be parsed',
  MB1202: 'a template uses something that is not allowed',
  MB1203: 'a template refers to an unknown name',
  MB1204: 'a value cannot be inserted into a string',
  // Data files
  MB1301: 'a data file or upload cannot be read',
  MB1302: 'a data file has the wrong form',
  MB1303: 'a data file is outside the folder of the manifest',
  MB1304: 'a row does not match its schema',
  MB1305: 'a row schema is invalid',
  MB1307: 'a table does not have exactly one row for a step',
  // The graph
  MB1401: 'a row key is missing, empty or contains invalid characters',
  MB1402: 'two steps have the same address',
  MB1403: 'a task does not exist',
  MB1404: 'references form a cycle',
  MB1405: 'a reference does not resolve to one step',
  MB1408: 'a task expands to no steps',
  MB1409: 'a condition is neither true nor false',
  // Requests
  MB1501: 'a request field is unknown',
  MB1502: 'a required request field is missing',
  MB1503: 'the value of a request field is not allowed',
  MB1504: 'a string is too long',
  MB1505: 'a URL must be public and https',
  MB1506: 'a request does not match the service’s API description',
  MB1507: 'a value is supported by the service, but not by this version',
  MB1509: 'the account of a post is not connected',
  MB1510: 'a publication time has passed, or its account expires before it',
  MB1511: 'the service does not support a kind',
  // Output paths
  MB1601: 'an output path leaves the folder of the manifest',
  MB1602: 'an output name is not portable',
  MB1603: 'two steps save to the same file',
  MB1604: 'an output would replace a file of yours',
  MB1605: 'an output path contains a symbolic link',
  // The lock
  MB2001: 'the lock is damaged',
  MB2002: 'the lock has a newer format',
  MB2003: 'the lock belongs to another service',
  MB2004: 'the lock contained a partial line or conflict markers',
  MB2006: 'a step was paid twice',
  MB3414: 'a newer mediabatch wrote the lock',
} as const satisfies Record<string, string>;

export type DiagnosticCode = keyof typeof codes;

export function countDiagnostics(
  diagnostics: readonly Pick<Diagnostic, 'severity' | 'omitted'>[],
): DiagnosticCounts & { omitted: DiagnosticCounts } {
  const omitted = { errors: 0, warnings: 0 };
  let errors = 0;
  for (const one of diagnostics) {
    if (one.severity === 'error') errors += 1;
    omitted.errors += one.omitted?.errors ?? 0;
    omitted.warnings += one.omitted?.warnings ?? 0;
  }
  const warnings = diagnostics.length - errors + omitted.warnings;
  return { errors: errors + omitted.errors, warnings, omitted };
}

export function hasErrors(diagnostics: readonly Pick<Diagnostic, 'severity'>[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** Returns a cell name such as `B7`. `row` and `column` start at 1. */
export function nameCell(row: number, column: number): string {
  return `${nameColumn(column)}${row}`;
}

/** Returns the letters of a spreadsheet column: A to Z, then AA, and so on. `column` starts at 1. */
export function nameColumn(column: number): string {
  const last = String.fromCharCode(65 + ((column - 1) % 26));
  return column <= 26 ? last : `${nameColumn(Math.floor((column - 1) / 26))}${last}`;
}

/** Sorts errors before warnings, then by place. Diagnostics without a place come first. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => {
    if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1;
    if (a.place === undefined || b.place === undefined)
      return Number(b.place === undefined) - Number(a.place === undefined);
    if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
    return a.place.start.line - b.place.start.line || a.place.start.column - b.place.start.column;
  });
}
