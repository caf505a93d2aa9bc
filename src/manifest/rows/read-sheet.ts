import { type Diagnostic, nameCell, nameColumn, type Place } from '../../ground/diagnostic.ts';
import { emptyMap, shorten } from '../../ground/values.ts';
import { flatText } from '../flat-text.ts';
import { nearestName } from '../suggest.ts';
import type { CellFault, Row, Rows, Sheet, Workbook } from './rows.ts';

/**
 * Reads a sheet of a workbook as a table: the first row that is not empty names the columns, empty rows are left out, every
 * value is a text. `label` is how people know the file. Without `sheet` it is the only one.
 */
export function readSheet(
  { names, sheets }: Workbook,
  from: { file: string; label: string; sheet: string | undefined; place: Place },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { label, sheet: name, place } = from;
  const [only, another] = names;
  const wanted = name ?? (another === undefined ? only : undefined);
  const sheet = sheets.find((one) => one.name === wanted);
  if (sheet !== undefined) return readTable(sheet, from);
  const listed = names.map((one) => shorten(one, 40)).join(', ');
  const near = name === undefined ? undefined : nearestName(name, names);
  const example = near ?? only ?? 'Texts';
  return {
    diagnostics: [
      {
        code: 'MB1302',
        severity: 'error',
        message:
          name === undefined
            ? `${label} has several sheets: ${listed}`
            : `${label} has no sheet \`${shorten(name)}\`; it has ${listed}`,
        hint: `say which, as in { file: ${label}, sheet: ${/^[\p{L}][\p{L}\p{N} _-]*$/u.test(example) ? example : JSON.stringify(example)} }`,
        place,
      },
    ],
  };
}

function readTable(
  sheet: Sheet,
  { file, label }: { file: string; label: string },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { cells } = sheet;
  const placeAt = (row: number, column: number): Place => placeOfCell({ file, sheet: sheet.name, row, column });
  const own = `${label}, sheet ${sheet.name}`;
  const fail = (place: Place, message: string, hint: string): Diagnostic => {
    return { code: 'MB1302', severity: 'error', message, hint, place };
  };
  const top = cells.findIndex(hasValue);
  const header = cells[top];
  if (header === undefined) {
    const hint = 'its first row names the columns, as in sku, name, price';
    return { diagnostics: [fail(placeAt(1, 1), `${own} is empty`, hint)] };
  }
  const columns = header.map((cell) => cell.trim());
  const body = cells.slice(top + 1);
  const diagnostics = sheet.faults
    .filter(({ row }) => row > top)
    .map((fault) => fail(placeAt(fault.row, fault.column), ...describeFault(fault, sheet.name)));
  for (const [index, column] of columns.entries()) {
    const place = placeAt(top + 1, index + 1);
    if (column !== '' && columns.indexOf(column) < index) {
      const message = `two columns of ${own} are named "${shorten(column)}"`;
      diagnostics.push(fail(place, message, 'give each column a name of its own in the first row'));
    } else if (column === '' && body.some((row) => (row[index] ?? '') !== '')) {
      const message = `column ${nameColumn(index + 1)} of ${own} has values and no name`;
      diagnostics.push(fail(place, message, 'name it in the first row, or remove it'));
    }
  }
  if (diagnostics.length > 0) return { diagnostics };
  const rows = body.flatMap((row, index): Row[] => {
    if (!hasValue(row)) return [];
    const number = top + 2 + index;
    const value = emptyMap();
    for (const [position, column] of columns.entries()) if (column !== '') value[column] = row[position] ?? '';
    const rowLabel = flatText('row ', String(number), ' of ', own);
    return [{ value, label: rowLabel, place: () => placeAt(number, 1) }];
  });
  return { rows: { rows, label: own, columns: columns.filter((column) => column !== '') }, diagnostics };
}

function hasValue(row: readonly string[]): boolean {
  return row.some((cell) => cell.trim() !== '');
}

function describeFault({ row, column, is, shows }: CellFault, sheet: string): [message: string, hint: string] {
  const cell = `cell ${nameCell(row, column)} of sheet ${sheet}`;
  switch (is) {
    case 'error':
      return [`${cell} shows the error ${shorten(shows ?? '', 20)}`, 'mend its formula, or write the value itself'];
    case 'formula':
      return [
        `${cell} has a formula whose value is not in the file`,
        'open the workbook in a spreadsheet and save it there: that calculates it',
      ];
    case 'merged':
      return [
        `${cell} is merged with the one beside it, so nobody knows which column its value belongs to`,
        'unmerge the cells; the first row of a sheet names its columns, and no title stands above it',
      ];
    default:
      return is satisfies never;
  }
}

/** Lines are rows, columns are columns. */
function placeOfCell({ row, column, ...of }: { file: string; sheet: string; row: number; column: number }): Place {
  const start = { line: row, column, offset: 0 };
  return { ...of, start, end: start };
}
