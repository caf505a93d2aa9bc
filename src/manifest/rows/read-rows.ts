import { type Diagnostic, type DiagnosticCode, hasErrors, type Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, emptyMap, freshCopy, isMap, isScalar, shorten, unknownValue } from '../../ground/values.ts';
import { findUnsendableInJson, nulWords } from '../check/unsendable.ts';
import type { Places } from '../yaml/places.ts';
import { readYaml, yamlFaults } from '../yaml/read-yaml.ts';
import { placeBetween, placeOfLine, readSource, type Source } from '../yaml/source.ts';
import { readCsv } from './read-csv.ts';
import { cellValue, describeWrong, explainSheetError } from './read-table.ts';
import { flatText, type Row, type Rows } from './rows.ts';

/**
 * Reads a data file by its extension. `separator` and `header` apply to CSV and TSV. `path`: path of the file as the
 * manifest states it. `file`: path of the file for messages. `table`: name of the table, if the rows belong to one.
 */
export function readRows(data: {
  path: string;
  file: string;
  text: string;
  separator?: string | undefined;
  header?: number | undefined;
  table?: string | undefined;
}): { rows?: Rows; diagnostics: Diagnostic[] } {
  const source = readSource(data.file, data.text);
  const nul = data.text.indexOf('\0');
  if (nul !== -1) return { diagnostics: [describeWrong(placeBetween(source, nul, nul + 1), nulWords)] };
  if (data.text.startsWith('version https://git-lfs.')) {
    const message = `${data.path} is a pointer of Git LFS, not the file itself`;
    return { diagnostics: [describeWrong(placeOfLine(source, 1), { message, hint: 'run git lfs pull' })] };
  }
  const read = readText(source, data);
  const lost = /[ÃÂ][\u0080-\u00bf]|â€/.exec(data.text);
  if (lost === null) return read;
  const message = `${data.path} was probably converted to UTF-8 twice`;
  const hint = 'save the original file as UTF-8 again: é became Ã©, and ’ became â€™';
  const place = placeBetween(source, lost.index, lost.index + lost[0].length);
  const warning: Diagnostic = { ...describeWrong(place, { message, hint }), severity: 'warning' };
  return { ...read, diagnostics: [...read.diagnostics, warning] };
}

function readText(source: Source, data: Parameters<typeof readRows>[0]): ReturnType<typeof readRows> {
  const extension = extensionOf(data.path);
  switch (extension) {
    case 'csv':
      return readCsv(source, data.path, {
        separator: data.separator ?? (/\.tsv$/i.test(data.path) ? '\t' : undefined),
        header: data.header,
        table: data.table,
      });
    case 'json':
      return readJson(source, data.path);
    case 'jsonl':
      return readJsonLines(source, data.path);
    case 'yaml':
      return readYamlRows(source, data.path);
    case 'xlsx':
      throw new Error(`internal error: the workbook ${data.path} was read as text`);
    case undefined:
      return { diagnostics: [] };
    default:
      return extension satisfies never;
  }
}

type Extension = 'csv' | 'xlsx' | 'json' | 'jsonl' | 'yaml';

const extensions: { readonly [extension: string]: Extension } = {
  ...{ csv: 'csv', tsv: 'csv', xlsx: 'xlsx', json: 'json' },
  ...{ jsonl: 'jsonl', ndjson: 'jsonl', yaml: 'yaml', yml: 'yaml' },
};

export function extensionOf(path: string): Extension | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(extensions, extension) ? extensions[extension] : undefined;
}

export function rowsFromList(
  list: Json,
  from: { label: string; placeOf: (index: number) => Place; code: DiagnosticCode },
): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { label, placeOf, code } = from;
  if (list === unknownValue) return { diagnostics: [] };
  if (!Array.isArray(list)) {
    const message = `${label} is ${describeValue(list)}, not a list of rows`;
    const hint = 'write a list: one entry per row, each a string, a number or a map of columns';
    return { diagnostics: [{ code, severity: 'error', message, hint, place: placeOf(0) }] };
  }
  const diagnostics: Diagnostic[] = [];
  const rows: Row[] = [];
  for (const [index, value] of list.entries()) {
    if (value === unknownValue) continue;
    if (isScalar(value) || isMap(value)) {
      const rowLabel = flatText('row ', String(index + 1), ' of ', label);
      rows.push({ value: cellsOf(value), label: rowLabel, place: () => placeOf(index) });
      for (const [column, cell] of isMap(value) ? Object.entries(value) : []) {
        const wrong = explainSheetError(cell, () => `\`${shorten(column)}\` of ${rowLabel}`);
        if (wrong !== undefined) diagnostics.push({ code, severity: 'error', ...wrong, place: placeOf(index) });
      }
      continue;
    }
    const message = `row ${index + 1} of ${label} is ${describeValue(value)}`;
    const hint = 'a row is a string, a number, true or false, or a map of columns';
    diagnostics.push({ code, severity: 'error', message, hint, place: placeOf(index) });
  }
  if (diagnostics.length > 0) return { diagnostics };
  return { rows: { rows, label, ...columnsOf(rows) }, diagnostics };
}

function cellsOf(row: Json): Json {
  if (!isMap(row)) return cellValue(row);
  const cells = emptyMap();
  for (const [column, cell] of Object.entries(row)) cells[column] = cellValue(cell);
  return cells;
}

function columnsOf(rows: readonly Row[]): { columns?: string[] } {
  const maps = rows.map(({ value }) => value).filter(isMap);
  return maps.length === 0 ? {} : { columns: [...new Set(maps.flatMap((map) => Object.keys(map)))] };
}

function readJson(source: Source, label: string): { rows?: Rows; diagnostics: Diagnostic[] } {
  const parsed = parseJson(source.text, 0);
  if ('error' in parsed) return { diagnostics: [notJson(source, parsed, label)] };
  const unsendable = limitDiagnostics(wrongIn(source, { text: source.text, start: 0 }));
  if (hasErrors(unsendable)) return { diagnostics: unsendable };
  let places: Places | undefined;
  const placeOf = (index: number): Place => {
    places ??= readYaml(source, yamlFaults.data).places;
    return places?.value([index]) ?? placeBetween(source, 0, 0);
  };
  const result = rowsFromList(parsed.value, { label, placeOf, code: 'MB1302' });
  return { ...result, diagnostics: [...unsendable, ...result.diagnostics] };
}

function readJsonLines(source: Source, label: string): { rows?: Rows; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const unsendable: Diagnostic[] = [];
  const values: Json[] = [];
  const lines: number[] = [];
  for (const [index, start] of source.lineStarts.entries()) {
    const line = source.text.slice(start, source.lineStarts[index + 1] ?? source.text.length);
    if (line.trim() === '' || line.trim() === '\ufeff') continue;
    const parsed = parseJson(line, start);
    if ('error' in parsed) {
      diagnostics.push(
        notJson(source, { ...parsed, offset: Math.min(parsed.offset, start + line.trimEnd().length) }, label),
      );
      continue;
    }
    unsendable.push(...wrongIn(source, { text: line, start }));
    values.push(parsed.value);
    lines.push(index + 1);
  }
  diagnostics.push(...limitDiagnostics(unsendable));
  const placeOf = (index: number): Place => placeOfLine(source, lines[index] ?? 1);
  const result = rowsFromList(values, { label, placeOf, code: 'MB1302' });
  return { ...(!hasErrors(diagnostics) && result), diagnostics: [...diagnostics, ...result.diagnostics] };
}

function readYamlRows(source: Source, label: string): { rows?: Rows; diagnostics: Diagnostic[] } {
  const { value, places, diagnostics } = readYaml(source, yamlFaults.data);
  if (value === undefined || places === undefined) return { diagnostics };
  const placeOf = (index: number): Place => places.value([index]);
  const result = rowsFromList(value, { label, placeOf, code: 'MB1302' });
  return { ...result, diagnostics: [...diagnostics, ...result.diagnostics] };
}

function wrongIn(source: Source, part: { text: string; start: number }): Diagnostic[] {
  const placeOf = ({ start, end }: { start: number; end: number }): Place =>
    placeBetween(source, part.start + start, part.start + end);
  const repeated = findRepeatedKeys(part.text).map((found): Diagnostic => {
    const message = `the key "${shorten(found.key)}" appears twice in the same map`;
    return { code: 'MB1004', severity: 'error', message, hint: 'remove one of the two', place: placeOf(found) };
  });
  const unsendable = [...findUnsendableInJson(part.text)].map((found): Diagnostic => {
    const { written, problem, hint, severity = 'error' } = found;
    const code = severity === 'error' ? 'MB1106' : 'MB1302';
    return { code, severity, message: `${written ?? 'a string'} ${problem}`, hint, place: placeOf(found) };
  });
  return [...repeated, ...unsendable];
}

/** Finds repeated keys in a valid JSON text. The JSON parser would silently keep the last value. */
function findRepeatedKeys(text: string): { key: string; start: number; end: number }[] {
  const found: { key: string; start: number; end: number }[] = [];
  const open: Set<string>[] = [];
  for (const { 0: token, 1: key, 2: colon, index } of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (key !== undefined && colon !== undefined) {
      const name = key.includes('\\') ? (JSON.parse(key) as string) : key.slice(1, -1);
      const keys = open.at(-1);
      if (keys?.has(name) === true) found.push({ key: name, start: index, end: index + key.length });
      keys?.add(name);
    }
  }
  return found;
}

function limitDiagnostics(found: readonly Diagnostic[]): Diagnostic[] {
  const errors = found.filter(({ severity }) => severity === 'error');
  const alike = errors.length > 0 ? errors : found;
  const { 4: last, length } = alike;
  if (last !== undefined && length > 5) last.message += ` (and ${length - 5} more like this)`;
  return alike.slice(0, 5);
}

type ParsedJson = { value: Json } | { error: string; offset: number };

function parseJson(text: string, start: number): ParsedJson {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  const skipped = text.length - plain.length;
  try {
    return { value: freshCopy(JSON.parse(plain) as Json) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof RangeError) return { error: 'the values are nested too deeply', offset: start };
    const position = /at position (\d+)/.exec(error.message)?.[1];
    const offset = position === undefined ? offsetOfToken(plain) : Number(position);
    const words = error.message.split(/ (?:in JSON )?at position| \(line|, (?:\.{3})?"/)[0] ?? '';
    return { error: words.trim(), offset: start + skipped + offset };
  }
}

/**
 * Returns the offset of the first token that JSON does not allow, because the parser's message lacks the offset. If
 * every token is allowed, returns the length of the text.
 */
function offsetOfToken(text: string): number {
  let [low, high] = [0, text.trimEnd().length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (hasUnexpectedToken(text.slice(0, middle + 1))) high = middle;
    else low = middle + 1;
  }
  return low;
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return error instanceof SyntaxError && error.message.startsWith('Unexpected token');
  }
}

function notJson(source: Source, problem: { error: string; offset: number }, label: string): Diagnostic {
  const empty = { message: `${label} is empty`, hint: 'write a list of rows: [{…}]' };
  if (source.text.trim() === '') return describeWrong(placeBetween(source, 0, 0), empty);
  const words = problem.error.charAt(0).toLowerCase() + problem.error.slice(1);
  return describeWrong(placeBetween(source, problem.offset, problem.offset + 1), {
    message: `${label} is not valid JSON: ${shorten(words, 80)}`,
    hint: 'put names and strings in double quotes; JSON has no comments, no NaN and no comma after the last entry',
  });
}
