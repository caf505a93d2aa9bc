import { type Dirent, existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { loadManifest, mistakesOf } from '../campaign/load-manifest.ts';
import { diskReader } from '../campaign/manifest-inputs.ts';
import { CampaignError } from '../contract/failure.ts';
import { readDataBytes, readDataFile } from '../disk/inputs.ts';
import { readWorkbook } from '../disk/workbook/read-workbook.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { isMap, unknownValue } from '../ground/values.ts';
import { writeSeparator } from '../manifest/rows/read-csv.ts';
import { readRows } from '../manifest/rows/read-rows.ts';
import { readSheet } from '../manifest/rows/read-sheet.ts';
import type { Rows } from '../manifest/rows/rows.ts';
import { unknownName } from './program/unknown-command.ts';

interface Table {
  /** Columns whose names can be used in a template. */
  columns: readonly string[];
  rows: readonly { readonly [column: string]: string }[];
  /** Name of each row in messages. */
  labels: readonly string[];
  /** Options of `foreach` besides the path of the file. */
  options: string;
}

/**
 * Makes a campaign with a picture for each row of a table. Its templates use the columns of the table. A table inside
 * the new folder is referenced; any other one is copied into it. Throws the errors that `validate` would report.
 */
export async function makeCsvCampaign(file: string, folder: string): Promise<NewFiles> {
  const isWorkbook = /\.xlsx$/i.test(file);
  if (!isWorkbook && !/\.[ct]sv$/i.test(file)) {
    const message = `${file} is not a .csv, .tsv or .xlsx file`;
    throw new CampaignError({ code: 'MB3000', message, hint: 'save the table as CSV or .xlsx', value: file });
  }
  const place = [dirname(resolve(file)), basename(file)] as const;
  const read = isWorkbook ? await readDataBytes(...place) : await readDataFile(...place);
  if ('problem' in read) {
    const { problem, detail } = read;
    const why = problem === 'missing' ? `there is no file ${file}` : `${file} cannot be read: ${detail ?? problem}`;
    throw unusable(file, why, 'give the path of a .csv or .xlsx file whose first row names the columns');
  }
  const table = 'bytes' in read ? await readWorkbookTable(file, read.bytes) : readTextTable(file, read.text);
  const way = relative(resolve(folder), resolve(file)).split(sep).join('/');
  const isBelow = way !== '' && !way.startsWith('../') && way !== '..' && resolve(folder, way) === resolve(file);
  const path = isBelow ? way : basename(file);
  const text = writeManifest(table, path);
  const manifest = join(folder, 'campaign.yaml');
  const checked = await loadManifest(manifest, {
    reader: {
      ...diskReader(manifest),
      manifest: async () => ({ text }),
      data: () => readDataFile(...place),
      bytes: () => readDataBytes(...place),
    },
  });
  if (hasErrors(checked.diagnostics)) throw mistakesOf(file, checked);
  const content = 'bytes' in read ? Buffer.from(read.bytes) : read.text;
  return { 'campaign.yaml': text, ...(!isBelow && { [path]: content }) };
}

function unusable(file: string, message: string, hint: string): CampaignError {
  return new CampaignError({ code: 'MB3104', message, hint, file });
}

/** Limit of lines above the column names: a title, and blank lines that a spreadsheet leaves below it. */
const mostTitleLines = 4;

/** Reads from the first line. If that is only a title, reads from the first line below it that starts a valid table. */
function readBelowTitle<Read extends ReturnType<typeof readRows>>(
  lines: readonly (readonly string[])[],
  read: (header: number | undefined) => Read,
): Read & { header?: string } {
  const whole = read(undefined);
  const filled = [...lines.keys()].filter((index) => lines[index]?.some((cell) => cell.trim() !== ''));
  const [title = 0, ...others] = filled;
  const isTitled = lines[title]?.filter((cell) => cell.trim() !== '').length === 1;
  if (!isTitled || isTable(whole)) return whole;
  for (const header of others.map((index) => index + 1).filter((number) => number <= mostTitleLines + 1)) {
    const below = read(header);
    if (isTable(below)) return { ...below, header: `, header: ${header}` };
  }
  return whole;
}

function isTable({ rows }: ReturnType<typeof readRows>): boolean {
  return (rows?.columns?.length ?? 0) > 1;
}

/**
 * Parses text with the separator found in its first line, or else with the first separator that gives a valid table.
 */
function readTextTable(file: string, text: string): Table {
  const lines = text.split(/\r\n?|\n/, mostTitleLines + 1).map((line) => line.split(/[;,\t]/));
  const read = readBelowTitle(lines, (header) => {
    const tried = [undefined, ';', '\t', ','].map((separator) =>
      readRows({ path: file, file, text, separator, header }),
    );
    return tried.find(isTable) ?? (tried[0] as (typeof tried)[number]);
  });
  const separator = read.rows?.separator;
  const isSaid = separator === undefined || /\.tsv$/i.test(file);
  const options = `${isSaid ? '' : `, separator: ${writeSeparator(separator)}`}${read.header ?? ''}`;
  return tableOf(file, { ...read, text, options });
}

async function readWorkbookTable(file: string, bytes: Uint8Array): Promise<Table> {
  const names = await readWorkbook(bytes, []);
  const [sheet = '', another] = 'problem' in names ? [] : names.names;
  const workbook = 'problem' in names ? names : await readWorkbook(bytes, [sheet]);
  if ('problem' in workbook) throw unusable(file, `${file} ${workbook.problem}`, 'save the sheet as CSV UTF-8');
  const start = { line: 1, column: 1, offset: 0 };
  const place = { file, start, end: start };
  const read = readBelowTitle(workbook.sheets[0]?.cells ?? [], (header) =>
    readSheet(workbook, { file, label: file, sheet, header, place }),
  );
  const options = `${another === undefined ? '' : `, sheet: ${JSON.stringify(sheet)}`}${read.header ?? ''}`;
  return tableOf(file, { ...read, options });
}

function tableOf(
  file: string,
  { rows, diagnostics = [], text, options }: Partial<ReturnType<typeof readRows>> & { text?: string; options: string },
): Table {
  if (rows === undefined || hasErrors(diagnostics)) {
    const sources = new Map(text === undefined ? [] : [[file, text]]);
    throw new CampaignError({ code: 'MB3104', message: `${file} cannot be used`, file, diagnostics, sources });
  }
  if (rows.rows.length === 0) throw unusable(file, `${file} has no rows`, 'add one row for each picture');
  const columns = (rows.columns ?? []).filter((column) => !/[[\]{}]|\p{C}/u.test(column));
  return { columns, rows: rows.rows.map(textsOf), labels: rows.rows.map(({ label }) => label), options };
}

function textsOf({ value }: Rows['rows'][number]): { [column: string]: string } {
  const cells = Object.entries(isMap(value) ? value : {});
  return Object.fromEntries(cells.map(([column, cell]) => [column, cell === unknownValue ? '' : String(cell)]));
}

function writeManifest(table: Table, path: string): string {
  const { rows, columns, labels, options } = table;
  const source = options === '' ? JSON.stringify(path) : `{ file: ${JSON.stringify(path)}${options} }`;
  const prompted = columns.find((column) => promptName.test(column));
  const isEmpty = (column: string, row: Table['rows'][number]) => (row[column] ?? '').trim() === '';
  // A row without its number, such as a total below the table, would make another column the key.
  const number = columns.find((column) => keyNames[0]?.test(column.trim()));
  const isNumbered = number !== undefined && 2 * rows.filter((row) => !isEmpty(number, row)).length > rows.length;
  for (const column of [prompted, isNumbered ? number : undefined]) {
    const empty = column === undefined ? undefined : labels[rows.findIndex((row) => isEmpty(column, row))];
    if (empty !== undefined) throw unusable(path, `${empty} has no ${column}`, 'fill it in, or remove the row');
  }
  const key = chooseKey(table, prompted);
  if (key === undefined) {
    const message = `no column of ${path} identifies its rows: ${describeRepeat(table)}`;
    throw unusable(path, message, 'give each row its own value there, or add a column such as id');
  }
  const words = prompted === undefined ? chooseWords(table, key.column) : [prompted];
  const prompt = [
    ...words.map((column) => `{{${nameOf(column)}}}`),
    ...(words.some(isDescription) ? [] : ['product photograph on a plain background, soft light']),
  ].join(', ');
  return `# yaml-language-server: $schema=schemas/manifest.schema.json
version: 1
name: campaign
description: ${JSON.stringify(`A picture for each row of ${path}.`)}
budget: { credits: ${Math.max(50, rows.length * 10)} } # hard cap over all runs of this campaign

defaults:
  image: { model: alpha-2, resolution: 1k }

tasks:
  # One step for each row. Its columns: ${columns.map((column) => column.replaceAll(/\s+/g, ' ')).join(', ')}
  picture:
    kind: image
    foreach: ${source}
    key: ${JSON.stringify(key.template)} # the permanent id of a row: purchases are found by it
    with:
      prompt: ${JSON.stringify(prompt)}
      aspectRatio: "1:1"
    save: images/{{key}}
`;
}

const keyNames = [
  /^(id|sku|key|slug|handle|code|ean|gtin|(article|artikel|art|item|product|produkt)\W*(no|nr|number|nummer)\.?)$/i,
  /(id|sku|key|slug|handle|code)$/i,
  /^(name|title|product)$/i,
  /(name|title)/i,
];

const descriptionName =
  /desc|beschreib|\b(?:about|ideas?|idee|idées?|motiv|textes?|textos?|texts?|prompts?)\b|^script$/i;
const speechName = /sprech|speech|spoken|voice|narrat|locu|\bvoix|\bvoz/i;

/** Names of columns in en, de, fr and es that say what a picture shows. */
function isDescription(column: string): boolean {
  return promptName.test(column) || (descriptionName.test(column) && !speechName.test(column));
}

const promptName = /^(?!.*negative).*(?:\bprompt\b|_prompt$|^prompt_)|^(?:text|script)$/i;

/** Largest number of columns for which pairs are tried as a row key. */
const mostPaired = 12;

/**
 * Chooses the best row key: one column or two, never empty, without duplicates, and with a typical key name if there
 * is one. A prompt is the row key only if no other column can be.
 */
function chooseKey({ columns, rows }: Table, prompted?: string): { column: string; template: string } | undefined {
  const rank = (column: string) => {
    const found = keyNames.findIndex((pattern) => pattern.test(column.trim()));
    if (column === prompted) return keyNames.length + 1;
    // A first column of short values, such as numbers of rooms, comes before names.
    const isShort = column === columns[0] && rows.every((row) => /^[A-Za-z0-9][\w-]{0,19}$/.test(row[column] ?? ''));
    if (isShort && (found === -1 || found > 1)) return 1.5;
    return found === -1 ? keyNames.length : found;
  };
  const ranked = columns.toSorted((a, b) => rank(a) - rank(b));
  const others = ranked.filter((column) => column !== prompted);
  const few = others.slice(0, mostPaired);
  const pairs = few.flatMap((one, index) => few.slice(index + 1).map((other) => [one, other]));
  const last = ranked.filter((column) => column === prompted).map((column) => [column]);
  for (const parts of [...others.map((column) => [column]), ...pairs, ...last]) {
    const values = rows.map((row) => parts.map((column) => row[column] ?? ''));
    // Values that differ only in case, or in characters that a file name drops, would lead to one file.
    const names = values.map((cells) => cells.map(plainName).join('-'));
    const isEmpty = values.some((cells) => cells.some((cell) => plainName(cell) === ''));
    if (isEmpty || new Set(names).size < names.length || names.some((name) => name.length > 60)) continue;
    const template = parts.map((column, index) => {
      const isPlain = values.every((cells) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$/.test(cells[index] ?? ''));
      return isPlain ? `{{${nameOf(column)}}}` : `{{slug ${nameOf(column)}}}`;
    });
    return { column: parts[0] ?? '', template: template.join('-') };
  }
  return undefined;
}

/** Says why the column that most looks like a key is none. */
function describeRepeat({ columns, rows, labels }: Table): string {
  const column = keyNames.flatMap((pattern) => columns.find((name) => pattern.test(name)) ?? [])[0] ?? columns[0] ?? '';
  const names = rows.map((row) => plainName(row[column] ?? ''));
  const at = names.findIndex((name, index) => name === '' || names.indexOf(name) < index);
  if (at === -1) return `${column} has values of more than 60 characters`;
  const first = names.indexOf(names[at] ?? '');
  const value = names[at] === '' ? 'no value' : `${rows[at]?.[column]}`;
  const number = (index: number) => /\d+/.exec(labels[index] ?? '')?.[0];
  return `${column}: ${value} in ${first === at ? `row ${number(at)}` : `rows ${number(first)} and ${number(at)}`}`;
}

function plainName(value: string): string {
  return value
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
}

/** Columns for a prompt: a name and a description, or up to three texts; no links, numbers or flags. */
function chooseWords({ columns, rows }: Table, key: string): string[] {
  const isText = (column: string) =>
    rows.every(
      (row) =>
        (row[column] ?? '') !== '' && !/^(https?:|[-\d.,€$£%\s]+$|true$|false$|yes$|no$)/i.test(row[column] ?? ''),
    );
  const rank = (column: string) => {
    if (isDescription(column)) return 1;
    return /name|title|product/i.test(column) ? 0 : speechName.test(column) ? 3 : 2;
  };
  const texts = columns.filter((column) => isText(column) && (column !== key || rank(column) === 0));
  const described = [0, 1].flatMap((wanted) => texts.filter((column) => rank(column) === wanted).slice(0, 1));
  if (described.some(isDescription)) return described;
  const chosen = texts.toSorted((a, b) => rank(a) - rank(b)).slice(0, 3);
  return chosen.length > 0 ? chosen : [key];
}

function nameOf(column: string): string {
  return /^[A-Za-z_][\w-]*$/.test(column) ? `row.${column}` : `row.[${column}]`;
}

const examples = new URL('../../examples/', import.meta.url);

/** Contents of files by their path below the new folder. */
export type NewFiles = Readonly<Record<string, string | Uint8Array>>;

export async function listExamples(): Promise<{ name: string; description: string }[]> {
  const names = await exampleNames();
  return Promise.all(
    names.map(async (name) => {
      const manifest = await readFile(new URL(`${name}/campaign.yaml`, examples), 'utf8');
      return { name, description: /^description: (.+)$/m.exec(manifest)?.[1] ?? '' };
    }),
  );
}

/** Reads the files of an example by their path below its folder, without files that runs have written. */
export async function readExample(name: string): Promise<NewFiles> {
  const names = await exampleNames();
  if (!names.includes(name)) throw unknownName('no example', name, names);
  const folder = new URL(`${name}/`, examples);
  const files: Record<string, Uint8Array> = {};
  const visit = async (path: string): Promise<void> => {
    const entries = await readdir(new URL(path, folder), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || /\.sandbox$|\.lock\.jsonl$/.test(entry.name)) continue;
      const inner = `${path}${entry.name}`;
      if (entry.isDirectory()) await visit(`${inner}/`);
      else if (entry.isFile()) files[inner] = await readFile(new URL(inner, folder));
    }
  };
  await visit('');
  return files;
}

/** Names of the examples; the recommended first one comes first. */
async function exampleNames(): Promise<string[]> {
  const entries = await readdir(examples, { withFileTypes: true });
  // The folder also has examples that are no campaigns: CI workflows, and setups of workers.
  const isCampaign = ({ name }: Dirent) => existsSync(new URL(`${name}/campaign.yaml`, examples));
  const names = entries.filter(isCampaign).map((entry) => entry.name);
  const first = 'quickstart';
  return [first, ...names.filter((name) => name !== first).sort()];
}
