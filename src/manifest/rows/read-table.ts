import { type Diagnostic, nameCell, nameColumn, type Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, shorten, unknownValue } from '../../ground/values.ts';
import { nearestName } from '../suggest.ts';
import { type CellError, type CellFault, flatText, type Row, type Rows, type Sheet, type Workbook } from './rows.ts';

export interface Wrong {
  message: string;
  hint: string;
}

type TableCell = string | Wrong;

export interface TableRow {
  cells: readonly TableCell[];
  label: string;
  place(column?: number): Place;
}

const sheetError =
  /^(?:#(?:REF!|VALUE!|NAME\?|DIV\/0!|NULL!|NUM!|N\/A|SPILL!|CALC!|FIELD!|BUSY!|CONNECT!|BLOCKED!|UNKNOWN!|ERROR!|BEZUG!|WERT!|ZAHL!|NV)|Err:\d{3})$/;

/** Normalizes the value of a cell. Line breaks become LF. TRUE and FALSE become lower-case, as in JSON. */
export function cellValue(value: Json): Json {
  if (value === null) return '';
  if (typeof value !== 'string') return value;
  if (value === 'TRUE' || value === 'FALSE') return value.toLowerCase();
  return value.includes('\r') ? value.replaceAll(/\r\n?/g, '\n') : value;
}

export function columnName(cell: string): string {
  return cell.replaceAll(/\s+/g, ' ').trim();
}

export function explainSheetError(value: Json, name: () => string): Wrong | undefined {
  if (typeof value !== 'string' || !sheetError.test(value.trim())) return undefined;
  return sheetErrorIn(name(), value.trim());
}

function sheetErrorIn(cell: string, shown: string): Wrong {
  const hint = 'correct its formula, or write the value itself';
  return { message: `${cell} shows the error ${shorten(shown, 20)}`, hint };
}

export function describeWrong(place: Place, wrong: Wrong): Diagnostic {
  return { code: 'MB1302', severity: 'error', ...wrong, place };
}

/**
 * Makes a table. The first row must contain the column names. Empty rows, and empty columns without a name, are
 * omitted. A cell that contains an error is read as `unknownValue`.
 */
export function readTable(
  [header, ...body]: readonly TableRow[],
  of: {
    label: string;
    first: string;
    nameCell(row: TableRow, column: number): string;
    nameColumn(column: number): string;
  },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { label } = of;
  const columns = (header?.cells ?? []).map((cell) => (typeof cell === 'string' ? columnName(cell) : ''));
  const filled = body.filter(hasValue);
  const diagnostics = explainColumns(columns, filled, of).map(({ index, ...wrong }) => {
    return describeWrong((header as TableRow).place(index + 1), wrong);
  });
  diagnostics.push(...filled.filter((row) => repeatsNames(row, columns)).map(explainRepetition));
  if (diagnostics.length > 0) return { diagnostics };
  const cellErrors: CellError[] = [];
  const rows = filled.map((row): Row => {
    const value = emptyMap();
    for (const [index, column] of columns.entries()) {
      if (column === '') continue;
      const { [index]: cell = '' } = row.cells;
      const wrong = typeof cell === 'string' ? explainSheetError(cell, () => of.nameCell(row, index + 1)) : cell;
      value[column] = typeof cell === 'string' && wrong === undefined ? cellValue(cell) : unknownValue;
      if (wrong === undefined) continue;
      cellErrors.push({ row: value, column, error: describeWrong(row.place(index + 1), wrong) });
    }
    const place = (column?: string) => {
      const index = column === undefined ? -1 : columns.indexOf(column);
      return row.place(index === -1 ? undefined : index + 1);
    };
    return { value, label: row.label, place };
  });
  return { rows: { rows, label, columns: columns.filter((column) => column !== ''), cellErrors }, diagnostics };
}

function repeatsNames({ cells }: TableRow, columns: readonly string[]): boolean {
  const isName = (column: string, index: number) => columnName(String(cells[index] ?? '')) === column;
  return columns.every(isName) && columns.filter((column) => column !== '').length > 1;
}

function explainRepetition({ label, place }: TableRow): Diagnostic {
  const hint = 'remove the row: joining two files also copies the column names of the second';
  return describeWrong(place(), { message: `${label} repeats the column names`, hint });
}

function explainColumns(
  columns: readonly string[],
  rows: readonly TableRow[],
  { label, first, nameColumn: name }: { label: string; first: string; nameColumn(column: number): string },
): (Wrong & { index: number })[] {
  const seen = new Set<string>();
  const wrong = columns.flatMap((column, index) => {
    const isNew = column === '' || !seen.has(column);
    seen.add(column);
    if (isNew) return [];
    const message = `two columns of ${label} are named "${shorten(column)}"`;
    return [{ index, message, hint: `give each column a unique name in the ${first}` }];
  });
  const isUnnamed = (index: number) => columns[index] === '' && rows.some(({ cells }) => isFilled(cells[index] ?? ''));
  const [unnamed, ...others] = [...columns.keys()].filter(isUnnamed);
  if (unnamed === undefined) return wrong;
  const have = others.length === 0 ? 'has' : `and ${others.length} more have`;
  const message = `column ${name(unnamed + 1)} of ${label} ${have} values and no name`;
  const isTitle = columns.filter((column) => column !== '').length === 1;
  const title = isTitle
    ? '; if a title is above the column names, delete it, or write { file: …, header: 2 } in the manifest'
    : '';
  const hint = `give the column a name in the ${first}, or remove the column${title}`;
  return [...wrong, { index: unnamed, message, hint }];
}

export function explainNoHeader(
  label: string,
  header: number,
  { is, count }: { is: 'line' | 'row'; count: number },
): Wrong {
  if (count === 0) {
    return { message: `${label} is empty`, hint: `the first ${is} has the column names, as in sku,name,price` };
  }
  return {
    message: `${label} has only ${count} ${is}${count === 1 ? '' : 's'} with values, and none from ${is} ${header} on, where \`header: ${header}\` expects the column names`,
    hint: `set \`header\` to the ${is} with the column names, or omit \`header\` if that ${is} is the first`,
  };
}

/** Returns whether a row has a value. A spreadsheet stores empty cells for a row that the user has cleared. */
export function hasValue({ cells }: Pick<TableRow, 'cells'>): boolean {
  return cells.some(isFilled);
}

function isFilled(cell: TableCell): boolean {
  return typeof cell !== 'string' || cell.trim() !== '';
}

/**
 * Reads a sheet of a workbook into strings. The first row that is not empty must contain the column names. `label`:
 * name of the file in messages. `sheet`: may be omitted if the workbook has only one.
 */
export function readSheet(
  { names, sheets }: Workbook,
  from: { file: string; label: string; sheet: string | undefined; header?: number | undefined; place: Place },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { label, sheet: name, place } = from;
  const [only, another] = names;
  const wanted = name ?? (another === undefined ? only : undefined);
  const sheet = sheets.find((one) => one.name === wanted);
  if (sheet !== undefined) return readCells(sheet, from);
  const listed = names.map((one) => shorten(one, 40)).join(', ');
  const near = name === undefined ? undefined : nearestName(name, names);
  const example = near ?? only ?? 'Texts';
  const message =
    name === undefined
      ? `${label} has several sheets: ${listed}`
      : `${label} has no sheet \`${shorten(name)}\`; it has ${listed}`;
  const hint = `select one: { file: ${label}, sheet: ${/^[\p{L}][\p{L}\p{N} _-]*$/u.test(example) ? example : JSON.stringify(example)} }`;
  return { diagnostics: [describeWrong(place, { message, hint })] };
}

function readCells(
  sheet: Sheet,
  { file, label, header = 1 }: { file: string; label: string; header?: number | undefined },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { cells } = sheet;
  const placeAt = (row: number, column: number): Place => placeOfCell({ file, sheet: sheet.name, row, column });
  const own = `${label}, sheet ${sheet.name}`;
  const top = cells.findIndex((row, index) => index >= header - 1 && hasValue({ cells: row }));
  if (top === -1) {
    const count = cells.filter((row) => hasValue({ cells: row })).length;
    return { diagnostics: [describeWrong(placeAt(1, 1), explainNoHeader(own, header, { is: 'row', count }))] };
  }
  const faults = sheet.faults.filter(({ row }) => row > top);
  const explain = (fault: CellFault) =>
    describeFault(fault, { sheet: sheet.name, isTop: fault.row === top + 1, label });
  if (faults.some(({ is, row }) => is === 'merged' || row === top + 1)) {
    return { diagnostics: faults.map((fault) => describeWrong(placeAt(fault.row, fault.column), explain(fault))) };
  }
  const values: TableCell[][] = cells.slice(top).map((row) => [...row]);
  for (const fault of faults) {
    const line = values[fault.row - top - 1];
    if (line !== undefined) line[fault.column - 1] = explain(fault);
  }
  const table = values.map((row, index): TableRow => {
    const number = top + 1 + index;
    const rowLabel = flatText('row ', String(number), ' of ', own);
    return { cells: row, label: rowLabel, place: (column = 1) => placeAt(number, column) };
  });
  const read = readTable(table, {
    label: own,
    first: 'first row',
    nameCell: (row, column) => `cell ${nameCell(row.place(1).start.line, column)} of sheet ${sheet.name}`,
    nameColumn,
  });
  const hidden = sheet.hiddenRows.filter((row) => row > top + 1 && row <= cells.length);
  if (hidden.length > 0) {
    const message = `${own} has ${hidden.length} hidden row${hidden.length === 1 ? '' : 's'}, which also become${hidden.length === 1 ? 's' : ''} steps`;
    const place = placeAt(hidden[0] ?? 1, 1);
    const hint = 'a filter hides rows without removing them: delete the rows, or show them again';
    read.diagnostics.push({ code: 'MB1302', severity: 'warning', message, hint, place });
  }
  return read;
}

function describeFault(
  { row, column, is, shows }: CellFault,
  { sheet, isTop, label }: { sheet: string; isTop: boolean; label: string },
): Wrong {
  const cell = `cell ${nameCell(row, column)} of sheet ${sheet}`;
  switch (is) {
    case 'error':
      return sheetErrorIn(cell, shows ?? '');
    case 'formula':
      return {
        message: `${cell} has a formula whose value is not in the file`,
        hint: 'open the workbook in a spreadsheet program and save it, which stores the calculated values',
      };
    case 'digits':
      return {
        message: `${cell} has a number with more than 15 digits, and a spreadsheet stores only 15`,
        hint: 'format the cell as text, then write the number again',
      };
    case 'merged':
      return {
        message: `${cell} is merged with the next cell, so the column of its value is ambiguous`,
        hint: isTop
          ? `if the cell is a title above the column names, set \`header\` to the row with the column names: { file: ${label}, header: ${row + 1} }`
          : 'unmerge the cells',
      };
    default:
      return is satisfies never;
  }
}

function placeOfCell({ row, column, ...of }: { file: string; sheet: string; row: number; column: number }): Place {
  const start = { line: row, column, offset: 0 };
  return { ...of, start, end: start };
}
