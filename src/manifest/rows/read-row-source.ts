import type { Json } from '../../ground/json.ts';
import { defined, isMap, isScalar, type JsonMap, mapOf, unknownValue } from '../../ground/values.ts';
import { pathFrom } from '../file-path.ts';
import type { RowSource, Table } from '../manifest.ts';
import { isTemplate } from '../template/template.ts';
import { readSeparator } from './read-csv.ts';

export function readWholeParts(text: string): { task: string; parts: string } | undefined {
  const match = /^\{\{\s*tasks\.([A-Za-z_][A-Za-z0-9_-]*)\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$/.exec(text);
  const [, task, parts] = match ?? [];
  return task === undefined || parts === undefined ? undefined : { task, parts };
}

export function readWholeTable(text: string): string | undefined {
  return /^\{\{\s*tables\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$/.exec(text)?.[1];
}

/**
 * Classifies the text of a `foreach`. Results other than `template`, `file` and `files` are mistakes. `isOne`: the text
 * is a `file:`, in which brackets are part of a name such as `products[1].csv`.
 */
export function classifyForeach(
  text: string,
  isOne = false,
): 'template' | 'file' | 'files' | 'list in quotes' | 'template with one brace' | 'web address' | 'backslashes' {
  if (isTemplate(text)) return 'template';
  if (/^\s*\[.*\]\s*$/s.test(text)) return 'list in quotes';
  if (/^\s*\{\s*(?:vars|tables|tasks|row|matrix)\.[^{}]*\}\s*$/.test(text)) return 'template with one brace';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return 'web address';
  if ((isOne ? /[*?]/ : /[*?[{]/).test(text)) return 'files';
  return text.includes('\\') ? 'backslashes' : 'file';
}

export function readRowSource(value: Json | undefined, most: Json | undefined): RowSource {
  if (value === undefined) return { from: 'nowhere' };
  if (Array.isArray(value)) {
    const right = value.every((row) => row !== unknownValue && (isScalar(row) || isMap(row)));
    return right ? { from: 'list', rows: value } : { from: 'unknown' };
  }
  if (isMap(value) && value !== unknownValue) return readFileSource(value);
  if (typeof value !== 'string') return { from: 'unknown' };
  switch (classifyForeach(value)) {
    case 'template':
      return readTemplate(value, most);
    case 'file':
      return { from: 'file', path: value };
    case 'files':
      return { from: 'files', pattern: value };
    default:
      return { from: 'unknown' };
  }
}

function readFileSource(written: JsonMap): RowSource {
  const { file, separator } = written;
  if (typeof file !== 'string' || classifyForeach(file, true) !== 'file') return { from: 'unknown' };
  const options = readOptions(written);
  if (separator !== undefined && options.separator === undefined) return { from: 'unknown' };
  return { from: 'file', path: file, ...options };
}

function readOptions({ separator, header, sheet }: JsonMap): Pick<Table, 'separator' | 'header' | 'sheet'> {
  return defined({
    separator: typeof separator === 'string' ? readSeparator(separator) : undefined,
    header: isRowNumber(header) ? header : undefined,
    sheet: typeof sheet === 'string' ? sheet : undefined,
  });
}

function readTemplate(text: string, most: Json | undefined): RowSource {
  const table = readWholeTable(text);
  if (table !== undefined) return { from: 'table', text, table };
  const whole = readWholeParts(text);
  if (whole === undefined) return { from: 'var', text };
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1 || most > 100) return { from: 'unknown' };
  return { from: 'parts', text, ...whole, most };
}

export function readTable(name: string, written: Json, folder: string): Table {
  const options = mapOf(typeof written === 'string' ? { file: written } : written);
  const { file, schema, on } = options;
  return {
    name,
    ...(typeof file === 'string' && classifyForeach(file, true) === 'file' && { file: pathFrom(folder, file) }),
    ...readOptions(options),
    ...(typeof schema === 'string' && { schema: pathFrom(folder, schema) }),
    on: readJoin(on),
  };
}

function readJoin(on: Json | undefined): Table['on'] {
  if (Array.isArray(on)) return on.flatMap((column) => (typeof column === 'string' ? [{ column }] : []));
  if (!isMap(on)) return [];
  return Object.entries(on).flatMap(([column, value]) => (isScalar(value) ? [{ column, value }] : []));
}

function isRowNumber(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 1000;
}
