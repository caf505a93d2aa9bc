import { type Dirent, existsSync, readFileSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { loadManifest, manifestErrors } from '../../campaign/load-manifest.ts';
import { diskReader } from '../../campaign/manifest-inputs.ts';
import { CampaignError } from '../../contract/failure.ts';
import { makeFolders } from '../../disk/fs/folders.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile } from '../../disk/fs/plain-file.ts';
import { writeNewFile } from '../../disk/fs/replace.ts';
import { readDataBytes, readDataFile } from '../../disk/inputs.ts';
import { readWorkbook } from '../../disk/workbook/read-workbook.ts';
import { call, way } from '../../ground/advice.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { isMap, messageOf, unknownValue } from '../../ground/values.ts';
import { writeSeparator } from '../../manifest/rows/read-csv.ts';
import { readRows } from '../../manifest/rows/read-rows.ts';
import { readSheet } from '../../manifest/rows/read-table.ts';
import { explainFileProblem } from '../../manifest/rows/rows.ts';
import { pathPart } from '../../manifest/suggest.ts';
import { command, line, stack } from '../../report/document.ts';
import { agentsPage } from '../../report/manual/references.ts';
import { safeText } from '../../report/safe-text.ts';
import type { Flags, Texts } from '../open.ts';
import { defaultManifest } from '../program/name-manifest.ts';
import { unknownName } from '../program/usage-errors.ts';
import { print, type Terminal } from '../terminal.ts';

const examples = new URL('../../../examples/', import.meta.url);
const agentsTopic = new URL('../../manual/agents.md', import.meta.url);
const schemaName = 'mediabatch.schema.json';
const ownSchema = new URL('../../../schemas/manifest.schema.json', import.meta.url);

/** Maps the path of each file in the new folder to its content. */
type NewFiles = Readonly<Record<string, string | Uint8Array>>;

type InitOptions = Texts<'example' | 'fromCsv'> & Flags<'agents' | 'list'>;

export async function init(folder: string, options: InitOptions, terminal: Terminal): Promise<void> {
  const { example, fromCsv, agents, list } = options;
  if (list === true) {
    for (const name of await exampleNames()) {
      const text = await readFile(new URL(`${name}/campaign.yaml`, examples), 'utf8');
      terminal.out(`${name}  ${/^description: (.+)$/m.exec(text)?.[1] ?? ''}\n`);
    }
    return;
  }
  const made =
    fromCsv === undefined ? await readExample(example ?? 'quickstart') : await makeCsvCampaign(fromCsv, folder);
  const { 'campaign.yaml': text = '', ...others } = made;
  const manifest = nameAfterFolder(String(text), folder).replace(/\$schema=\S+/, `$schema=${schemaName}`);
  const around = {
    ...surroundingsOf(folder),
    [schemaName]: readFileSync(ownSchema),
    ...(agents && { 'AGENTS.md': agentsPage(await readFile(agentsTopic, 'utf8')) }),
  };
  await writeAll(folder, { files: { 'campaign.yaml': manifest, ...others }, around }, terminal);
  const file = relative(process.cwd(), join(folder, defaultManifest)) || defaultManifest;
  const { paste } = terminal;
  terminal.err('\n');
  print(
    terminal,
    stack(
      line('Commit campaign.lock.jsonl after the first run: it records what you paid.'),
      line('To keep outputs out of git, add their folders to .gitignore. A clone downloads them for 0 credits.'),
      command('Try it with sandbox credits', paste({ ...call('apply', '--sandbox'), file })),
      (example ?? fromCsv) ? undefined : command('See the other examples', paste(call('init', '--list'))),
    ),
  );
}

function surroundingsOf(folder: string): NewFiles {
  // npm may have created `node_modules` before `.gitignore` existed.
  const packages = existsSync(join(folder, 'node_modules')) ? 'node_modules/\n' : '';
  return {
    // If two branches have different purchases, git keeps the lock lines of both, and the next run sorts them.
    '.gitattributes': '*.lock.jsonl merge=union text eol=lf\n',
    '.gitignore': `${packages}.mediabatch/\n*.report/\n*.sandbox/\n*.sandbox.lock.jsonl\n.env\n`,
    '.env.example': 'MEDIABATCH_BASE_URL=https://…/api/v1\nMEDIABATCH_API_KEY=\n',
  };
}

const longestFile = 1024 * 1024;

/** Writes all files of the campaign or none. Also adds files such as `.gitignore` if the folder lacks them. */
async function writeAll(
  folder: string,
  { files, around }: { files: NewFiles; around: NewFiles },
  { err, style }: Terminal,
): Promise<void> {
  const all = Object.entries({ ...files, ...around });
  const folders = new Set([folder, ...all.map(([name]) => dirname(join(folder, name)))]);
  for (const one of folders) {
    const wayOut = findWayOut(one);
    if (wayOut !== undefined) throw cannotBeMade(one, wayOut);
  }
  const taken = Object.entries(files)
    .map(([name, content]) => ({ path: join(folder, name), content: Buffer.from(content) }))
    .filter(({ path, content }) => exists(path) && !readSmallFile(path, longestFile)?.equals(content))
    .map(({ path }) => path);
  if (taken.length > 0) {
    throw new CampaignError({
      code: 'MB3304',
      message: `${taken.join(', ')} would be overwritten`,
      hint: anotherFolder,
      files: taken,
    });
  }
  for (const one of folders) {
    await makeFolders(one).catch((error: unknown) => {
      throw cannotBeMade(one, messageOf(error));
    });
  }
  for (const [name, content] of all) {
    const path = join(folder, name);
    const isNew = !exists(path);
    if (isNew) await writeNewFile(path, Buffer.from(content));
    err(`  ${isNew ? style.green('wrote') : style.yellow('kept ')} ${safeText(path)}\n`);
    if (isNew) continue;
    const there = new Set(readSmallFile(path, longestFile)?.toString('utf8').split(/\r?\n/));
    const wanted = String(surroundingsOf(folder)[name] ?? '').split('\n');
    for (const line of wanted) if (line !== '' && !there.has(line)) err(`         add this line: ${line}\n`);
  }
}

function exists(path: string): boolean {
  try {
    return lstatOrAbsent(path) !== undefined;
  } catch {
    return false;
  }
}

const anotherFolder = way('choose another folder', call('init', 'my-campaign'));

function cannotBeMade(path: string, why: string): CampaignError {
  const message = `the folder ${path} cannot be created: ${why}`;
  return new CampaignError({ code: 'MB3301', message, hint: anotherFolder, path });
}

/** Idempotency keys contain the campaign name, so two folders must have different names. */
function nameAfterFolder(manifest: string, folder: string): string {
  const plain = basename(resolve(folder)).normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const dashed = plain.replaceAll('ß', 'ss').replaceAll(/[^a-z0-9\-_.]+/g, '-');
  const name = dashed
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64)
    .replace(/[-.]+$/, '');
  if (name === '') return manifest;
  // YAML would read some names as a number or another type.
  const isText = /^[a-z][a-z0-9-]*$/.test(name) && !/^(?:true|false|null)$/.test(name);
  return manifest.replace(/^name: .*$/m, () => `name: ${isText ? name : JSON.stringify(name)}`);
}

async function readExample(name: string): Promise<NewFiles> {
  const names = await exampleNames();
  if (!names.includes(name)) throw unknownName('no example', name, names);
  const folder = new URL(`${name}/`, examples);
  const files: Record<string, Uint8Array> = {};
  const paths = await readdir(folder, { recursive: true });
  for (const path of paths.map((one) => one.split(sep).join('/')).sort()) {
    const isWritten = path.split('/').some((part) => part.startsWith('.') || /\.sandbox$|\.lock\.jsonl$/.test(part));
    const source = new URL(path, folder);
    if (!isWritten && statSync(source).isFile()) files[path] = await readFile(source);
  }
  return files;
}

async function exampleNames(): Promise<string[]> {
  const entries = await readdir(examples, { withFileTypes: true });
  // `examples/` also contains CI workflows and worker setups, which are not campaigns.
  const isCampaign = ({ name }: Dirent) => existsSync(new URL(`${name}/campaign.yaml`, examples));
  const names = entries.filter(isCampaign).map((entry) => entry.name);
  const first = 'quickstart';
  return [first, ...names.filter((name) => name !== first).sort()];
}

interface Table {
  columns: readonly string[];
  rows: readonly { readonly [column: string]: string }[];
  labels: readonly string[];
  options: string;
}

/**
 * Creates a campaign with one picture per row of a table. Copies the table unless it is inside the new folder. Throws
 * the errors that `validate` would report.
 */
async function makeCsvCampaign(file: string, folder: string): Promise<NewFiles> {
  const isWorkbook = /\.xlsx$/i.test(file);
  if (!isWorkbook && !/\.[ct]sv$/i.test(file)) {
    const message = `${file} is not a .csv, .tsv or .xlsx file`;
    throw new CampaignError({ code: 'MB3000', message, hint: 'save the table as CSV or .xlsx', value: file });
  }
  const place = [dirname(resolve(file)), basename(file)] as const;
  const read = isWorkbook ? await readDataBytes(...place) : await readDataFile(...place);
  if ('problem' in read) {
    const { message, hint } = explainFileProblem(file, read);
    const isMissing = read.problem === 'missing';
    throw unusable(
      file,
      message,
      isMissing ? 'use the path of a table whose first row contains the column names' : hint,
    );
  }
  const below = relative(resolve(folder), resolve(file)).split(sep).join('/');
  const isBelow = !below.startsWith('../') && resolve(folder, below) === resolve(file);
  const path = isBelow ? below : basename(file);
  const text = writeManifest(await readTable(file, read), path);
  const manifest = join(folder, 'campaign.yaml');
  const checked = await loadManifest(manifest, {
    reader: {
      ...diskReader(manifest),
      manifest: async () => ({ text }),
      data: () => readDataFile(...place),
      bytes: () => readDataBytes(...place),
    },
  });
  if (hasErrors(checked.diagnostics)) throw manifestErrors(file, checked);
  const content = 'bytes' in read ? Buffer.from(read.bytes) : read.text;
  return { 'campaign.yaml': text, ...(!isBelow && { [path]: content }) };
}

function unusable(file: string, message: string, hint: string): CampaignError {
  return new CampaignError({ code: 'MB3104', message, hint, file });
}

async function readTable(file: string, read: { text: string } | { bytes: Uint8Array }): Promise<Table> {
  const sheet = 'bytes' in read ? await readFirstSheet(file, read.bytes) : undefined;
  const { rows, diagnostics } = sheet ?? readRows({ path: file, file, text: 'text' in read ? read.text : '' });
  if (rows === undefined || hasErrors(diagnostics)) {
    const sources = new Map('text' in read ? [[file, read.text]] : []);
    throw new CampaignError({ code: 'MB3104', message: `${file} cannot be used`, file, diagnostics, sources });
  }
  if (rows.rows.length === 0) throw unusable(file, `${file} has no rows`, 'add one row for each picture');
  const separator = rows.isGuess ? `, separator: ${writeSeparator(rows.separator ?? '')}` : '';
  return {
    columns: (rows.columns ?? []).filter((column) => !/[[\]{}]|\p{C}/u.test(column)),
    rows: rows.rows.map(({ value }) => {
      const cells = Object.entries(isMap(value) ? value : {});
      return Object.fromEntries(cells.map(([name, cell]) => [name, cell === unknownValue ? '' : String(cell)]));
    }),
    labels: rows.rows.map(({ label }) => label),
    options: sheet?.option ?? separator,
  };
}

async function readFirstSheet(file: string, bytes: Uint8Array) {
  const listed = await readWorkbook(bytes, []);
  const [sheet, another] = 'problem' in listed ? [] : listed.names;
  const workbook = 'problem' in listed ? listed : await readWorkbook(bytes, [sheet]);
  if ('problem' in workbook) throw unusable(file, `${file} ${workbook.problem}`, 'save the sheet as CSV UTF-8');
  const start = { line: 1, column: 1, offset: 0 };
  const read = readSheet(workbook, { file, label: file, sheet, place: { file, start, end: start } });
  return { ...read, option: another === undefined ? '' : `, sheet: ${JSON.stringify(sheet)}` };
}

function writeManifest(table: Table, path: string): string {
  const { rows, columns, labels, options } = table;
  const isPlain = options === '' && !/[[{]/.test(path);
  const source = isPlain ? JSON.stringify(path) : `{ file: ${JSON.stringify(path)}${options} }`;
  const prompted = columns.find((column) => promptName.test(column));
  const isEmpty = (column: string, row: Table['rows'][number]) => (row[column] ?? '').trim() === '';
  // Rejects a row without an id, such as a total below the table, instead of using another column as the key.
  const number = columns.find((column) => idName.test(column.trim()));
  const isNumbered = number !== undefined && 2 * rows.filter((row) => !isEmpty(number, row)).length > rows.length;
  for (const column of [prompted, isNumbered ? number : undefined]) {
    const empty = column === undefined ? undefined : labels[rows.findIndex((row) => isEmpty(column, row))];
    if (empty !== undefined)
      throw unusable(path, `${empty} has no value in column ${column}`, 'fill in the value, or remove the row');
  }
  const key = chooseKey(table, prompted);
  if (key === undefined) {
    const message = `no column or pair of columns of ${path} has a unique value of up to 60 characters in each row`;
    throw unusable(path, message, 'add a column with unique values, such as id');
  }
  const words = prompted === undefined ? chooseWords(table, key.column) : [prompted];
  const prompt = [
    ...words.map((column) => `{{row.${pathPart(column)}}}`),
    ...(words.some(isDescription) ? [] : ['product photograph on a plain background, soft light']),
  ].join(', ');
  return `# yaml-language-server: $schema=schemas/manifest.schema.json
version: 1
name: campaign
description: ${JSON.stringify(`A picture for each row of ${path}.`)}
budget: { credits: ${Math.max(50, rows.length * 10)} } # limit for all runs of this campaign

defaults:
  image: { model: alpha-2, resolution: 1k }

tasks:
  # One step for each row. Its columns: ${columns.map((column) => column.replaceAll(/\s+/g, ' ')).join(', ')}
  picture:
    kind: image
    foreach: ${source}
    key: ${JSON.stringify(key.template)} # the permanent id of a row; do not change it
    with:
      prompt: ${JSON.stringify(prompt)}
      aspectRatio: "1:1"
    save: images/{{key}}
`;
}

const idName =
  /^(id|sku|key|slug|handle|code|ean|gtin|(article|artikel|art|item|product|produkt)\W*(no|nr|number|nummer)\.?)$/i;

const descriptionName =
  /desc|beschreib|\b(?:about|ideas?|idee|idées?|motiv|textes?|textos?|texts?|prompts?)\b|^script$/i;
const speechName = /sprech|speech|spoken|voice|narrat|locu|\bvoix|\bvoz/i;

function isDescription(column: string): boolean {
  return promptName.test(column) || (descriptionName.test(column) && !speechName.test(column));
}

const promptName = /^(?!.*negative).*(?:\bprompt\b|_prompt$|^prompt_)|^(?:text|script)$/i;

const mostPaired = 12;

/**
 * Returns the best row key: one or two columns without empty or duplicate values, preferably with a name such as `id`.
 * Returns the prompt column only if no other column is suitable.
 */
function chooseKey({ columns, rows }: Table, prompted?: string): { column: string; template: string } | undefined {
  const tests: ((column: string) => boolean)[] = [
    (column) => idName.test(column.trim()),
    (column) => /(id|sku|key|slug|handle|code)$/i.test(column.trim()),
    // Prefers a first column of short values, such as room numbers, to a column of names.
    (column) => column === columns[0] && rows.every((row) => /^[A-Za-z0-9][\w-]{0,19}$/.test(row[column] ?? '')),
    (column) => /name|title|product/i.test(column),
    () => true,
  ];
  const rank = (column: string) => tests.findIndex((is) => is(column));
  const others = columns.filter((column) => column !== prompted).toSorted((a, b) => rank(a) - rank(b));
  const few = others.slice(0, mostPaired);
  const pairs = few.flatMap((one, index) => few.slice(index + 1).map((other) => [one, other]));
  const last = prompted === undefined ? [] : [[prompted]];
  for (const parts of [...others.map((column) => [column]), ...pairs, ...last]) {
    const values = rows.map((row) => parts.map((column) => row[column] ?? ''));
    // Values that differ only in case, or in characters that a file name drops, would lead to one file.
    const names = values.map((cells) => cells.map(plainName).join('-'));
    const isEmpty = values.some((cells) => cells.some((cell) => plainName(cell) === ''));
    if (isEmpty || new Set(names).size < names.length || names.some((name) => name.length > 60)) continue;
    const template = parts.map((column, index) => {
      const isPlain = values.every((cells) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$/.test(cells[index] ?? ''));
      return isPlain ? `{{row.${pathPart(column)}}}` : `{{slug row.${pathPart(column)}}}`;
    });
    return { column: parts[0] ?? '', template: template.join('-') };
  }
  return undefined;
}

function plainName(value: string): string {
  return value
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
}

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
  // A prompt contains the row key if it is a word, but not if it is a code such as A-17 or m001.
  const isId = idName.test(key.trim()) || rows.some((row) => /[\d_]/.test(row[key] ?? ''));
  const texts = columns.filter((column) => isText(column) && (column !== key || rank(column) === 0 || !isId));
  const described = [0, 1].flatMap((wanted) => texts.filter((column) => rank(column) === wanted).slice(0, 1));
  if (described.some(isDescription)) return described;
  const chosen = texts.toSorted((a, b) => rank(a) - rank(b)).slice(0, 3);
  return chosen.length > 0 ? chosen : [key];
}
