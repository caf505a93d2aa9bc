import { basename, dirname, relative, resolve, sep } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { readDataFile } from '../disk/inputs.ts';
import { isMap } from '../ground/values.ts';
import { writeSeparator } from '../manifest/rows/read-csv.ts';
import { readRows } from '../manifest/rows/read-rows.ts';
import type { NewFiles } from './list-examples.ts';

interface Table {
  /** Where it is no comma. */
  separator?: string;
  columns: readonly string[];
  rows: readonly { readonly [column: string]: string }[];
}

/**
 * A campaign that makes a picture for each row of a table: its templates use the columns that are there. A table below
 * the new folder is named where it is; another one is copied into it.
 */
export async function makeCsvCampaign(file: string, folder: string): Promise<NewFiles> {
  const read = await readDataFile(dirname(resolve(file)), basename(file));
  if ('problem' in read) {
    const why =
      read.problem === 'missing'
        ? `there is no file ${file}`
        : `${file} cannot be read: ${read.detail ?? read.problem}`;
    throw new CampaignError({
      code: 'MB3104',
      message: why,
      hint: 'give the path of a .csv file whose first line names the columns',
      file,
    });
  }
  const table = readTable(file, read.text);
  const way = relative(resolve(folder), resolve(file)).split(sep).join('/');
  const isBelow = way !== '' && !way.startsWith('../') && way !== '..' && resolve(folder, way) === resolve(file);
  const path = isBelow ? way : basename(file);
  return { 'campaign.yaml': writeManifest(table, path), ...(!isBelow && { [path]: read.text }) };
}

function readTable(file: string, text: string): Table {
  if (!/\.[ct]sv$/i.test(file)) {
    throw new CampaignError({
      code: 'MB3003',
      message: `${file} is no .csv or .tsv file`,
      hint: 'save the table as CSV',
      value: file,
    });
  }
  const { rows, diagnostics } = readRows({ path: file, file, text });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (rows === undefined || errors.length > 0) {
    throw new CampaignError({
      code: 'MB3104',
      message: `${file} cannot be used`,
      file,
      diagnostics: errors,
      sources: new Map([[file, text]]),
    });
  }
  if (rows.rows.length === 0)
    throw new CampaignError({
      code: 'MB3104',
      message: `${file} has no rows`,
      hint: 'add one line for each picture',
      file,
    });
  const values = rows.rows.map(({ value }) =>
    Object.fromEntries(Object.entries(isMap(value) ? value : {}).map(([column, cell]) => [column, String(cell)])),
  );
  const { columns = [], separator } = rows;
  return { columns, rows: values, ...(separator !== undefined && { separator }) };
}

function writeManifest(table: Table, path: string): string {
  const { rows, columns, separator } = table;
  const source =
    separator === undefined || /\.tsv$/i.test(path)
      ? JSON.stringify(path)
      : `{ file: ${JSON.stringify(path)}, separator: ${writeSeparator(separator)} }`;
  const key = chooseKey(table);
  if (key === undefined) {
    throw new CampaignError({
      code: 'MB3104',
      message: `no column of ${path} names its rows: in each of ${columns.join(', ')} a value is empty or stands twice`,
      hint: 'add a column such as id, with a different value in every row',
      file: path,
    });
  }
  const words = chooseWords(table, key.column).map((column) => `{{${nameOf(column)}}}`);
  const prompt = [...words, 'product photograph on a plain background, soft light'].join(', ');
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
    key: ${JSON.stringify(key.template)} # names a row for ever: what is paid for is found again by it
    with:
      prompt: ${JSON.stringify(prompt)}
      aspectRatio: "1:1"
    save: images/{{key}}
`;
}

const keyNames = [
  /^(id|sku|key|slug|handle|code|ean|gtin)$/i,
  /(id|sku|key|slug|handle|code)$/i,
  /^(name|title|product)$/i,
  /(name|title)/i,
];

/** The column that names its rows best: never empty, never twice, and of a telling name where there is one. */
function chooseKey({ columns, rows }: Table): { column: string; template: string } | undefined {
  const rank = (column: string) => {
    const found = keyNames.findIndex((pattern) => pattern.test(column.trim()));
    return found === -1 ? keyNames.length : found;
  };
  for (const column of columns.toSorted((a, b) => rank(a) - rank(b))) {
    const values = rows.map((row) => row[column] ?? '');
    const isPlain = values.every((value) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$/.test(value));
    // What differs in case only, or in signs that a name drops, would be one file.
    const names = values.map((value) =>
      value
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
        .replaceAll(/^-|-$/g, ''),
    );
    if (names.includes('') || new Set(names).size < names.length || names.some((name) => name.length > 60)) continue;
    return { column, template: isPlain ? `{{${nameOf(column)}}}` : `{{slug ${nameOf(column)}}}` };
  }
  return undefined;
}

/** Columns for a prompt: names and descriptions first, then other texts; no links, numbers or marks. */
function chooseWords({ columns, rows }: Table, key: string): string[] {
  const isText = (column: string) =>
    rows.every(
      (row) =>
        (row[column] ?? '') !== '' && !/^(https?:|[-\d.,€$£%\s]+$|true$|false$|yes$|no$)/i.test(row[column] ?? ''),
    );
  const rank = (column: string) => (/name|title|product/i.test(column) ? 0 : /desc|text|about/i.test(column) ? 1 : 2);
  const texts = columns.filter((column) => isText(column) && (column !== key || rank(column) === 0));
  const chosen = texts.toSorted((a, b) => rank(a) - rank(b)).slice(0, 3);
  return chosen.length > 0 ? chosen : [key];
}

function nameOf(column: string): string {
  return /^[A-Za-z_][\w-]*$/.test(column) ? `row.${column}` : `row.[${column}]`;
}
