import { CsvError, parse } from 'csv-parse/sync';
import type { Diagnostic, Place } from '../../ground/diagnostic.ts';
import { shorten } from '../../ground/values.ts';
import { placeBetween, placeOfLine, type Source } from '../yaml/source.ts';
import { describeWrong, explainNoHeader, hasValue, readTable, type TableRow, type Wrong } from './read-table.ts';
import { flatText, type Rows } from './rows.ts';

interface CsvRecord {
  cells: string[];
  line: number;
}

/**
 * Reads a CSV table with a header row into strings. Line breaks in quotes become LF. Detects the separator if none is
 * given. `header`: line number of the column names.
 */
export function readCsv(
  source: Source,
  label: string,
  of: { separator: string | undefined; header?: number | undefined; table?: string | undefined },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { header: at = 1 } = of;
  const fail = (line: number, wrong: Wrong) => describeWrong(placeOfLine(source, line), wrong);
  const lines = source.text
    .replaceAll(/^\ufeff/gm, '')
    .replaceAll(/\r\n?/g, '\n')
    .split('\n');
  // Lines above the header are emptied instead of removed, so that line numbers in messages stay right.
  const text = lines.map((line, index) => (index < at - 1 ? '' : line)).join('\n');
  const found = of.separator === undefined ? findSeparator(text) : { separator: of.separator, said: true };
  if ('either' in found) {
    const wrong = explainAmbiguity(found.either, { label, table: of.table });
    return { diagnostics: [fail(/^\s*/.exec(text)?.[0].split('\n').length ?? 1, wrong)] };
  }
  const conflict = lineOfConflict(text);
  if (conflict !== undefined) {
    const hint = 'resolve the conflict: keep one side, and remove the lines <<<<<<<, ======= and >>>>>>>';
    return { diagnostics: [fail(conflict, { message: `${label} holds merge conflict markers`, hint })] };
  }
  const { separator } = found;
  let records: CsvRecord[];
  try {
    records = readRecords(text.replace(/^sep=[^\n]\n/i, '\n'), separator);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { line, ...wrong } = explainCsvError(error, text, { label, separator });
    return { diagnostics: [fail(line, wrong)] };
  }
  const [header, ...body] = records;
  if (header === undefined) {
    const count = lines.filter((line) => line.trim()).length;
    return { diagnostics: [fail(1, explainNoHeader(label, at, { is: 'line', count }))] };
  }
  const place = (line: number) => (column?: number) => placeOfCell(source, { line, column, separator });
  const table = body.map(({ cells, line }, index): TableRow => {
    return { cells, label: flatText('row ', String(index + 1), ' of ', label), place: place(line) };
  });
  const diagnostics = body.flatMap(({ cells, line }, index) => {
    const wrong = explainWidth(cells, header.cells, { row: table[index]?.label ?? '', label, separator });
    return wrong === undefined ? [] : [fail(line, wrong)];
  });
  if (diagnostics.length > 0) return { diagnostics };
  const read = readTable([{ cells: header.cells, label, place: place(header.line) }, ...table], {
    label,
    first: 'first line',
    nameCell: (row, column) => `\`${shorten(header.cells[column - 1]?.trim() ?? '')}\` of ${row.label}`,
    nameColumn: String,
  });
  if (read.rows === undefined || separator === ',') return read;
  return { ...read, rows: { ...read.rows, separator, isGuess: !found.said } };
}

function explainAmbiguity(separators: readonly string[], of: { label: string; table: string | undefined }): Wrong {
  const names = separators.map(nameSeparator).join(' or ');
  const file = `{ file: ${of.label}, separator: ${writeSeparator(separators.at(-1) ?? '')} }`;
  const example = of.table === undefined ? `foreach: ${file}` : `tables: { ${of.table}: ${file} }`;
  return {
    message: `cannot tell which of ${names} separates the columns of ${of.label}: its first line contains both`,
    hint: `name the separator, as in ${example}; or put column names that contain a separator in double quotes`,
  };
}

function lineOfConflict(text: string): number | undefined {
  const start = text.search(/^<{7}(?: .*)?$/m);
  const ours = start === -1 ? '' : text.slice(start);
  const divider = ours.search(/^={7}$/m);
  const isConflict = divider !== -1 && /^>{7}(?: .*)?$/m.test(ours.slice(divider));
  return isConflict ? text.slice(0, start).split('\n').length : undefined;
}

function explainWidth(
  cells: readonly string[],
  header: readonly string[],
  { row, label, separator }: { row: string; label: string; separator: string },
): Wrong | undefined {
  const named = widthOf(header);
  const width = cells.length < header.length ? cells.length : widthOf(cells);
  if (width < named ? cells.length >= named : width <= header.length) return undefined;
  const values = separator === ',' ? 'a comma' : nameSeparator(separator);
  const empty = separator === '\t' ? 'two tabs' : separator.repeat(2);
  const title = `; if a title is above the column names, set their line, as in { file: ${label}, header: 2 }`;
  return {
    message: `${row} has ${count(width, 'value')}, but the first line names ${count(named, 'column')}`,
    hint: `put values that hold ${values} in double quotes, and write empty values as ${empty}${named === 1 ? title : ''}`,
  };
}

function widthOf(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell.trim() !== '') + 1;
}

function placeOfCell(
  source: Source,
  { line, column = 0, separator }: { line: number; column?: number | undefined; separator: string },
): Place {
  const { text, lineStarts } = source;
  let start = lineStarts[line - 1] ?? text.length;
  let number = 1;
  let inQuotes = false;
  for (let at = start; column > 0 && at <= text.length; at += 1) {
    const character = text[at] ?? '\n';
    if (character === '"') inQuotes = !inQuotes;
    if (inQuotes || (character !== separator && !/[\r\n]/.test(character))) continue;
    if (number === column) return placeBetween(source, start, at);
    if (character !== separator) break;
    number += 1;
    start = at + 1;
  }
  return placeOfLine(source, line);
}

function fitsAll(text: string, separator: string): boolean {
  try {
    const [header, ...body] = readRecords(text, separator);
    return header !== undefined && body.length > 0 && body.every(({ cells }) => cells.length === header.cells.length);
  } catch (error) {
    if (error instanceof CsvError) return false;
    throw error;
  }
}

function readRecords(text: string, separator: string): CsvRecord[] {
  const parsed = parse(text, {
    delimiter: separator,
    info: true,
    raw: true,
    record_delimiter: '\n',
    relax_column_count: true,
    skip_empty_lines: true,
  }) as unknown as { record: string[]; raw: string }[];
  const records: CsvRecord[] = [];
  let line = 1;
  for (const { record, raw } of parsed) {
    const blank = /^\n*/.exec(raw)?.[0].length ?? 0;
    if (hasValue({ cells: record })) records.push({ cells: record, line: line + blank });
    line += raw.split('\n').length - 1;
  }
  return records;
}

function explainCsvError(
  error: CsvError,
  text: string,
  { label, separator }: { label: string; separator: string },
): Wrong & { line: number } {
  const isPreceded = new RegExp(`(?:^|[${separator}])(?: +|=)"`);
  const line = typeof error.lines === 'number' ? error.lines : 1;
  const twice = 'write a quote inside of a quoted string twice: ""';
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED': {
      const hint = `close the string with another double quote; ${twice}`;
      return { line: lineOfOpenQuote(text), message: `a double quote in ${label} is not closed`, hint };
    }
    case 'CSV_INVALID_CLOSING_QUOTE':
      return {
        line,
        message: `a string in ${label} continues after its closing quote`,
        hint: /" +(?:[,;|\t]|$)/.test(text.split('\n')[line - 1] ?? '') ? 'remove the space after the quote' : twice,
      };
    case 'INVALID_OPENING_QUOTE': {
      const hint = isPreceded.test(text.split('\n')[line - 1] ?? '')
        ? 'remove the space or `=` before the first quote of a value'
        : 'put the whole value in double quotes, and write the quote in it twice: ""';
      return { line, message: `a double quote in ${label} is inside of an unquoted value`, hint };
    }
    default: {
      const hint = 'the first line names the columns; values with commas or line breaks must be in double quotes';
      return { line, message: `${label} is not valid CSV: ${shorten(error.message, 120)}`, hint };
    }
  }
}

function lineOfOpenQuote(text: string): number {
  let open = -1;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    if (open === -1) open = at;
    else if (text[at + 1] === '"') at += 1;
    else open = -1;
  }
  return text.slice(0, open === -1 ? text.length : open).split('\n').length;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

const usual = [',', ';', '\t', '|'] as const;

export function readSeparator(written: string): string | undefined {
  return written === 'tab' ? '\t' : usual.find((separator) => separator === written);
}

export function writeSeparator(separator: string): string {
  return separator === '\t' ? 'tab' : JSON.stringify(separator);
}

export function nameSeparator(separator: string): string {
  return separator === '\t' ? 'tabs' : `\`${separator}\``;
}

/**
 * Detects the separator. Uses a line such as `sep=;`, else the only separator in the unquoted part of the header. If
 * the header has several, uses the separator with which every row has all columns. `either`: several separators remain.
 */
function findSeparator(text: string): { separator: string; said: boolean } | { either: readonly string[] } {
  const said = /^sep=([^\n])\n/i.exec(text)?.[1];
  if (said !== undefined) return { separator: said, said: true };
  const header = headerOf(text);
  const found = usual.filter((separator) => header.includes(separator));
  const [only = ',', ...others] = found;
  if (others.length === 0) return { separator: only, said: false };
  const [fitting, ...more] = found.filter((separator) => fitsAll(text, separator));
  return fitting === undefined || more.length > 0 ? { either: found } : { separator: fitting, said: false };
}

function headerOf(text: string): string {
  const start = /\S/.exec(text)?.index ?? text.length;
  let header = '';
  let inQuotes = false;
  for (const character of text.slice(start, start + longestHeader)) {
    if (character === '"') inQuotes = !inQuotes;
    else if (inQuotes) continue;
    else if (character === '\n') break;
    else header += character;
  }
  return header;
}

const longestHeader = 100_000;
