import { type Diagnostic, nameCell, nameColumn, type Place } from '../../ground/diagnostic.ts';
import { shorten } from '../../ground/values.ts';
import { flatText } from '../flat-text.ts';
import { nearestName } from '../suggest.ts';
import { explainNoHeader, hasValue, readTable, type TableCell, type TableRow, type Wrong } from './read-table.ts';
import type { CellFault, Rows, Sheet, Workbook } from './rows.ts';

/**
 * Reads a sheet of a workbook as a table. The first row that is not empty has the column names, empty rows are left
 * out, and every value is a string. `label` is the name of the file in messages. `sheet` can be omitted if there is
 * only one.
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
  return {
    diagnostics: [
      {
        code: 'MB1302',
        severity: 'error',
        message:
          name === undefined
            ? `${label} has several sheets: ${listed}`
            : `${label} has no sheet \`${shorten(name)}\`; it has ${listed}`,
        hint: `select one: { file: ${label}, sheet: ${/^[\p{L}][\p{L}\p{N} _-]*$/u.test(example) ? example : JSON.stringify(example)} }`,
        place,
      },
    ],
  };
}

function readCells(
  sheet: Sheet,
  { file, label, header = 1 }: { file: string; label: string; header?: number | undefined },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { cells } = sheet;
  const placeAt = (row: number, column: number): Place => placeOfCell({ file, sheet: sheet.name, row, column });
  const own = `${label}, sheet ${sheet.name}`;
  const fail = (place: Place, wrong: Wrong): Diagnostic => {
    return { code: 'MB1302', severity: 'error', ...wrong, place };
  };
  const top = cells.findIndex((row, index) => index >= header - 1 && hasValue({ cells: row }));
  if (top === -1) {
    const count = cells.filter((row) => hasValue({ cells: row })).length;
    return { diagnostics: [fail(placeAt(1, 1), explainNoHeader(own, header, { is: 'row', count }))] };
  }
  const faults = sheet.faults.filter(({ row }) => row > top);
  const explain = (fault: CellFault) =>
    describeFault(fault, { sheet: sheet.name, isTop: fault.row === top + 1, label });
  if (faults.some(({ is, row }) => is === 'merged' || row === top + 1)) {
    return { diagnostics: faults.map((fault) => fail(placeAt(fault.row, fault.column), explain(fault))) };
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
      return {
        message: `${cell} shows the error ${shorten(shows ?? '', 20)}`,
        hint: 'correct its formula, or write the value itself',
      };
    case 'formula':
      return {
        message: `${cell} has a formula whose value is not in the file`,
        hint: 'open the workbook in a spreadsheet program and save it, which stores the calculated values',
      };
    case 'merged':
      return {
        message: `${cell} is merged with the next one, so the column of its value is ambiguous`,
        hint: isTop
          ? `if it is a title above the column names, set their row, as in { file: ${label}, header: ${row + 1} }`
          : 'unmerge the cells',
      };
    default:
      return is satisfies never;
  }
}

/** Returns the place of a cell, in which the line is the number of the row. */
function placeOfCell({ row, column, ...of }: { file: string; sheet: string; row: number; column: number }): Place {
  const start = { line: row, column, offset: 0 };
  return { ...of, start, end: start };
}
