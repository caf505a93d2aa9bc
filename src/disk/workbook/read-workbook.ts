import type { CellFault, Sheet, Workbook } from '../../manifest/rows/rows.ts';
import { unzip, zip } from './zip.ts';

const maxMergedCells = 1_000_000;

interface Part {
  name: string;
  path: string;
  isHidden: boolean;
}

/**
 * Reads the requested sheets of a workbook, or the only sheet. Refuses a file that would exhaust the memory, such as
 * one with a cell in the billionth row. Messages print `problem` after the file name.
 */
export async function readWorkbook(
  bytes: Uint8Array,
  wanted: readonly (string | undefined)[],
): Promise<Workbook | { problem: string }> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.subarray(0, 4).toString('hex') === 'd0cf11e0') {
    return { problem: 'is an old .xls workbook, or has a password: save it as .xlsx without a password' };
  }
  if (buffer.length === 0) return { problem: 'is empty' };
  if (buffer.toString('latin1', 0, 2) !== 'PK') {
    return { problem: `is not a workbook: it begins with ${JSON.stringify(buffer.toString('utf8', 0, 20))}` };
  }
  const parts = unzip(buffer, (name) => /\.(?:xml|rels)$/.test(name));
  if (!(parts instanceof Map)) return parts;
  const sheets = listSheets(parts);
  if (sheets.length === 0) return { problem: 'is not an .xlsx workbook: it has no sheets' };
  const visible = sheets.filter(({ isHidden }) => !isHidden);
  const read: Sheet[] = [];
  const asked = new Set(wanted.map((name) => name ?? (visible.length === 1 ? visible[0]?.name : undefined)));
  for (const sheet of sheets.filter(({ name }) => asked.has(name))) {
    const one = await readSheet(sheet, sheets, parts);
    if ('problem' in one) return { problem: `has a sheet ${sheet.name}, which ${one.problem}` };
    read.push(one);
  }
  return { names: visible.map(({ name }) => name), sheets: read };
}

function listSheets(parts: ReadonlyMap<string, Buffer>): Part[] {
  const links = new Map<string, string>();
  for (const attributes of tagsOf(parts.get('xl/_rels/workbook.xml.rels'), 'Relationship')) {
    const target = attributes.get('Target') ?? '';
    links.set(attributes.get('Id') ?? '', target.startsWith('/') ? target.slice(1) : `xl/${target}`);
  }
  return tagsOf(parts.get('xl/workbook.xml'), 'sheet').flatMap((attributes): Part[] => {
    const name = attributes.get('name');
    const path = links.get(attributes.get('id') ?? '');
    if (name === undefined || path === undefined || !parts.has(path)) return [];
    return [{ name, path, isHidden: (attributes.get('state') ?? 'visible') !== 'visible' }];
  });
}

function tagsOf(xml: Buffer | undefined, name: string): Map<string, string>[] {
  const tags = (xml?.toString('utf8') ?? '').matchAll(new RegExp(`<(?:\\w{1,20}:)?${name}\\s([^<>]*)>`, 'g'));
  return [...tags].map(([, written = '']) => {
    const attributes = [...written.matchAll(/(?:\w{1,20}:)?(\w+)="([^"]*)"/g)];
    return new Map(attributes.map(([, key = '', value = '']) => [key, decodeEntities(value)]));
  });
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

async function readSheet(
  { name, path }: Part,
  sheets: readonly Part[],
  parts: ReadonlyMap<string, Buffer>,
): Promise<Sheet | { problem: string }> {
  const notes = scanSheet(parts.get(path)?.toString('utf8') ?? '');
  if ('problem' in notes) return notes;
  // Packs the workbook again with checked parts only: one sheet, without compression.
  const others = new Set(sheets.filter((sheet) => sheet.path !== path).map((sheet) => sheet.path));
  const packed = zip(
    new Map([...parts].filter(([part]) => !others.has(part)).map(([part, xml]) => [part, plainXml(xml)])),
  );
  // Imports read-excel-file on demand: the package is large, and few campaigns need it.
  const { readSheet: readCells } = await import('read-excel-file/universal');
  try {
    const cells = await readCells(new Blob([new Uint8Array(packed)]), name, { trim: false });
    const texts = cells.map((row) => row.map(textOf));
    applyFormats(texts, notes, parts.get('xl/styles.xml'));
    const { faults, hiddenRows } = notes;
    return fillMerged(texts, notes) ?? { name, cells: texts, faults, hiddenRows };
  } catch (error) {
    return { problem: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function plainXml(xml: Buffer): Buffer {
  const text = xml.toString('utf8');
  const plain = text
    .replaceAll(/&#(?:\d{5,7}|x[0-9a-f]{5,6});/gi, decodeEntities)
    .replaceAll(/\bdate1904="true"/gi, 'date1904="1"');
  return plain === text ? xml : Buffer.from(plain);
}

function applyFormats(cells: string[][], { numbers }: SheetNotes, styles: Buffer | undefined): void {
  const xml = styles?.toString('utf8') ?? '';
  const codes = new Map(tagsOf(styles, 'numFmt').map((one) => [one.get('numFmtId'), one.get('formatCode') ?? '']));
  const applied = /<(?:\w{1,20}:)?cellXfs\b[\s\S]*?<\/(?:\w{1,20}:)?cellXfs>/.exec(xml)?.[0] ?? '';
  const formats = tagsOf(Buffer.from(applied), 'xf').map((style) => {
    const id = style.get('numFmtId') ?? '';
    return codes.get(id) ?? ownFormats[id] ?? '';
  });
  for (const { row, column, style, value } of numbers) {
    const line = cells[row - 1];
    const format = formats[style] ?? '';
    if (line === undefined) continue;
    if (/^0{2,20}$/.test(format) && /^\d+$/.test(value)) line[column - 1] = value.padStart(format.length, '0');
    else if (/^[#,0.]+%$/.test(format)) line[column - 1] = `${textOf(Number(value) * 100)}%`;
    else if (/\[[hms]+\]/i.test(format) && Number.isFinite(Number(value)))
      line[column - 1] = durationText(Number(value));
  }
}

/** Built-in number formats, which a workbook refers to by ID without defining them. */
const ownFormats: { readonly [id: string]: string } = { 9: '0%', 10: '0.00%', 46: '[h]:mm:ss' };

function durationText(days: number): string {
  const seconds = Math.abs(Math.round(days * 86_400));
  const two = (amount: number): string => String(amount).padStart(2, '0');
  const sign = days < 0 && seconds > 0 ? '-' : '';
  return `${sign}${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function textOf(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(Number(value.toPrecision(15)));
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.valueOf())) return '';
  // Rounds a time to seconds, because a spreadsheet stores it as a fraction of a day, which is not exact.
  const [date = '', time = ''] = new Date(Math.round(value.valueOf() / 1000) * 1000)
    .toISOString()
    .slice(0, 19)
    .split('T');
  if (date < '1900-01-01') return time;
  return time === '00:00:00' ? date : `${date}T${time}`;
}

function fillMerged(cells: string[][], { faults, merged }: SheetNotes): { problem: string } | undefined {
  let filled = 0;
  for (const { top, bottom, left, right } of merged) {
    if (left !== right) {
      if (cells[top - 1]?.[left - 1]) faults.push({ row: top, column: left, is: 'merged' });
      continue;
    }
    const value = cells[top - 1]?.[left - 1] ?? '';
    for (const row of cells.slice(top, bottom)) {
      row[left - 1] = value;
      filled += 1;
    }
    if (filled > maxMergedCells) return { problem: 'has too many merged cells' };
  }
  return undefined;
}

const maxRows = 2 ** 20;
const maxColumns = 2 ** 14;

const maxArea = 2_000_000;

/** Least number that may be inexact, because spreadsheets store 15 digits. */
const leastInexact = 1e15;

interface SheetNotes {
  faults: CellFault[];
  /** Merged ranges. Rows and columns count from 1. */
  merged: { top: number; bottom: number; left: number; right: number }[];
  numbers: { row: number; column: number; style: number; value: string }[];
  hiddenRows: number[];
}

interface OpenCell {
  row: number;
  column: number;
  isError: boolean;
  isNumber: boolean;
  style?: number;
  hasFormula: boolean;
  hasValue: boolean;
}

function scanSheet(xml: string): SheetNotes | { problem: string } {
  const notes: SheetNotes = { faults: [], merged: [], numbers: [], hiddenRows: [] };
  let [bottom, right] = [0, 0];
  let open: OpenCell | undefined;
  for (const match of xml.matchAll(/<(\/?)(?:\w{1,20}:)?(row|c|f|v|is|mergeCell)\b([^<>]*)>/g)) {
    const [tag, closing, name, attributes = ''] = match;
    if (name === 'row' && closing === '') {
      const number = Number(attributeOf(attributes, 'r') ?? 0);
      if (number > maxRows) return impossible;
      if (/\shidden="(?:1|true)"/.test(attributes)) notes.hiddenRows.push(number);
    } else if (name === 'mergeCell') {
      const [from, to] = (attributeOf(attributes, 'ref') ?? '').split(':').map(readCell);
      if (from === undefined || to === undefined) continue;
      notes.merged.push({ top: from.row, bottom: to.row, left: from.column, right: to.column });
    } else if (name === 'c' && closing === '') {
      const at = readCell(attributeOf(attributes, 'r') ?? '');
      if (at === undefined) return { problem: 'has a cell without an address' };
      if (at.row > maxRows || at.column > maxColumns) return impossible;
      const type = attributeOf(attributes, 't') ?? 'n';
      const style = Number(attributeOf(attributes, 's') ?? 0);
      const found = { hasFormula: false, hasValue: false };
      const [isError, isNumber] = [type === 'e', type === 'n'];
      open = { ...at, ...found, isError, isNumber, ...(isNumber && style > 0 && { style }) };
    } else if (open !== undefined) {
      if (name === 'f') open.hasFormula = true;
      // `<v/>` next to a formula means that the formula was not calculated; an empty string has the type `str`.
      const isEmpty = name === 'v' && (tag.endsWith('/>') || xml.startsWith('</', match.index + tag.length));
      if ((name === 'v' || name === 'is') && !(isEmpty && open.isNumber)) open.hasValue = true;
      if (name === 'v' && closing === '' && (open.isError || open.isNumber)) {
        const { row, column, style } = open;
        const start = match.index + tag.length;
        const value = xml.slice(start, xml.indexOf('<', start));
        if (open.isError) notes.faults.push({ row, column, is: 'error', shows: value });
        else if (Math.abs(Number(value)) >= leastInexact) notes.faults.push({ row, column, is: 'digits' });
        else if (style !== undefined) notes.numbers.push({ row, column, style, value });
      }
      if (name === 'c') {
        if (open.hasValue) [bottom, right] = [Math.max(bottom, open.row), Math.max(right, open.column)];
        else if (open.hasFormula) notes.faults.push({ row: open.row, column: open.column, is: 'formula' });
        open = undefined;
      }
    }
  }
  if (bottom * right <= maxArea) return notes;
  return { problem: `has ${bottom} rows and ${right} columns, which are too many cells` };
}

const impossible = {
  problem: `has a cell beyond row ${maxRows} or column ${maxColumns}, which no spreadsheet supports`,
};

const patterns = { s: /\ss="([^"]*)"/, r: /\sr="([^"]*)"/, t: /\st="([^"]*)"/, ref: /\sref="([^"]*)"/ };

function attributeOf(attributes: string, name: keyof typeof patterns): string | undefined {
  return patterns[name].exec(attributes)?.[1];
}

function readCell(address: string): { row: number; column: number } | undefined {
  const [, letters = '', digits = ''] = /^([A-Z]{1,4})([1-9]\d{0,9})$/.exec(address) ?? [];
  if (letters === '') return undefined;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return { row: Number(digits), column };
}
