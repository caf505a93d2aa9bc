import type { Diagnostic, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, shorten, unknownValue } from '../../ground/values.ts';
import type { CellError, Row, Rows } from './rows.ts';

export interface Wrong {
  message: string;
  hint: string;
}

/** The text of a cell, or why it has no value. */
export type TableCell = string | Wrong;

export interface TableRow {
  cells: readonly TableCell[];
  label: string;
  /** Returns the place of a column, counted from 1, or of the row. */
  place(column?: number): Place;
}

/** Errors that a spreadsheet shows in place of a value, and exports as text. */
const sheetError =
  /^(?:#(?:REF!|VALUE!|NAME\?|DIV\/0!|NULL!|NUM!|N\/A|SPILL!|CALC!|FIELD!|BUSY!|CONNECT!|BLOCKED!|UNKNOWN!|ERROR!|BEZUG!|WERT!|ZAHL!|NV)|Err:\d{3})$/;

/**
 * Normalizes the value of a cell, regardless of the file format: line breaks become LF, and TRUE and FALSE of a
 * spreadsheet become lower-case as in JSON.
 */
export function cellValue(value: Json): Json {
  if (value === null) return '';
  if (typeof value !== 'string') return value;
  if (value === 'TRUE' || value === 'FALSE') return value.toLowerCase();
  return value.includes('\r') ? value.replaceAll(/\r\n?/g, '\n') : value;
}

/** Returns the name of a column. A header cell that is wrapped by hand contains line breaks, which look like spaces. */
export function columnName(cell: string): string {
  return cell.replaceAll(/\s+/g, ' ').trim();
}

/** Explains an error of a spreadsheet in a cell. Undefined when the cell has a value. */
export function explainSheetError(value: Json, name: () => string): Wrong | undefined {
  if (typeof value !== 'string' || !sheetError.test(value.trim())) return undefined;
  return {
    message: `${name()} shows the error ${shorten(value.trim(), 20)}`,
    hint: 'correct its formula, or write the value itself',
  };
}

/**
 * Makes a table. The first row has the names. Rows and unnamed columns without values are left out. Cells with errors
 * are unknown.
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
  const { label, first } = of;
  const diagnostics: Diagnostic[] = [];
  const cellErrors: CellError[] = [];
  const fail = (place: Place, words: Wrong): void => {
    diagnostics.push({ code: 'MB1302', severity: 'error', ...words, place });
  };
  const columns = (header?.cells ?? []).map((cell) => (typeof cell === 'string' ? columnName(cell) : ''));
  const filled = body.filter(hasValue);
  const seen = new Set<string>();
  for (const [index, column] of columns.entries()) {
    const place = (): Place => (header as TableRow).place(index + 1);
    if (column !== '' && seen.has(column)) {
      const message = `two columns of ${label} are named "${shorten(column)}"`;
      fail(place(), { message, hint: `give each column a unique name in the ${first}` });
    } else if (column === '' && filled.some(({ cells }) => isFilled(cells[index] ?? ''))) {
      const message = `column ${of.nameColumn(index + 1)} of ${label} has values and no name`;
      const title =
        columns.filter((name) => name !== '').length === 1
          ? '; if a title is above the column names, write { file: …, header: 2 }'
          : '';
      fail(place(), { message, hint: `name it in the ${first}, or remove it${title}` });
    }
    seen.add(column);
  }
  const isBroken = diagnostics.length > 0;
  const rows = filled.map((row): Row => {
    const value = emptyMap();
    for (const [index, column] of columns.entries()) {
      if (column === '') continue;
      const { [index]: cell = '' } = row.cells;
      const wrong = typeof cell === 'string' ? explainSheetError(cell, () => of.nameCell(row, index + 1)) : cell;
      value[column] = typeof cell === 'string' && wrong === undefined ? cellValue(cell) : unknownValue;
      if (wrong === undefined) continue;
      const error: Diagnostic = { code: 'MB1302', severity: 'error', ...wrong, place: row.place(index + 1) };
      cellErrors.push({ row: value, column, error });
    }
    const place = (column?: string) => {
      const index = column === undefined ? -1 : columns.indexOf(column);
      return row.place(index === -1 ? undefined : index + 1);
    };
    return { value, label: row.label, place };
  });
  if (isBroken) return { diagnostics };
  return { rows: { rows, label, columns: columns.filter((column) => column !== ''), cellErrors }, diagnostics };
}

/** Explains that a table has no row with column names. `count`: its rows that have values. */
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
    hint: `set \`header\` to the ${is} with the column names, or leave it out if that is the first`,
  };
}

/** Returns whether a row has a value. Spreadsheets write rows of separators for rows that were emptied. */
export function hasValue({ cells }: Pick<TableRow, 'cells'>): boolean {
  return cells.some(isFilled);
}

function isFilled(cell: TableCell): boolean {
  return typeof cell !== 'string' || cell.trim() !== '';
}
