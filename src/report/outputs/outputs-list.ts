import type { Json } from '../../ground/json.ts';
import { defined, isMap, type JsonMap, mapOf } from '../../ground/values.ts';
import { readCsv } from '../../manifest/rows/read-csv.ts';
import { columnName } from '../../manifest/rows/read-table.ts';
import { readSource } from '../../manifest/yaml/source.ts';
import type { FoundOutput, PostEntry } from '../../plan/outputs/list-outputs.ts';
import { bad, type Document, good, jsonOf, listOf, type Text, warning } from '../document.ts';
import { bytesText, countOf, creditsText, elapsedText } from '../numbers.ts';
import { csvText, safeJson, safeText } from '../safe-text.ts';

export type ListFormat = 'csv' | 'csv-semicolon' | 'xlsx' | 'json' | 'jsonl';

export function listFormatOf(ending: string): ListFormat | undefined {
  return (['csv', 'xlsx', 'json', 'jsonl'] as const).find((format) => ending.toLowerCase() === `.${format}`);
}

/** Spreadsheets recognize UTF-8 only with a byte order mark. */
const byteOrderMark = '\ufeff';

/**
 * Returns a list of outputs for programs and spreadsheets. CSV in a file begins with a byte order mark. CSV in a stream
 * has escaped control sequences, because the stream may be a terminal or a build log.
 */
export function outputsList(view: OutputsList, format: Exclude<ListFormat, 'xlsx'>, into: 'file' | 'stream'): string {
  if (format === 'json') return `${safeJson(outputsJson(view), 2)}\n`;
  if (format === 'jsonl') {
    const { campaign, folder } = view;
    const lines = [
      ...view.files.map((file) => jsonOf('output', { campaign, ...fileJson(file, folder) })),
      ...view.posts.map((post) => jsonOf('post', { campaign, ...entryJson(post) })),
    ];
    return lines.map((line) => `${safeJson(line)}\n`).join('');
  }
  const text = csvText(outputsTable(view, into === 'file' ? undefined : harmless), format === 'csv' ? ',' : ';');
  return into === 'file' ? byteOrderMark + text : text;
}

/** Returns whether mediabatch wrote the list that begins with `start`. Returns true for an empty JSON Lines file. */
export function isOwnList(format: ListFormat, start: string): boolean {
  switch (format) {
    case 'csv':
    case 'csv-semicolon':
      return firstLine(start).replaceAll(';', ',').includes(ownHeader);
    case 'xlsx':
      return start.startsWith('PK') && start.includes('<Application>mediabatch</Application>');
    case 'json':
      return /^\{\s*"mediabatch": "outputs"/.test(start);
    case 'jsonl':
      return start.replaceAll('\0', '') === '' || /^\{"mediabatch":"(?:output|post)"/.test(start);
    default:
      return format satisfies never;
  }
}

export function readListed(list: string): Map<string, JsonMap> {
  const separator = firstLine(list).includes(ownHeader) ? ',' : ';';
  const { rows } = readCsv(readSource('', list), '', { separator });
  const found = new Map<string, JsonMap>();
  for (const { value } of rows?.rows ?? []) {
    if (isMap(value) && typeof value.path === 'string') found.set(value.path, value);
  }
  return found;
}

function firstLine(text: string): string {
  return /^[^\r\n]*/.exec(text)?.[0] ?? '';
}

const plain = /^(?!.*(?:##|::))[ -~]*$/;

function harmless(text: string): string {
  return plain.test(text) ? text : safeText(text, Number.POSITIVE_INFINITY);
}

type Cell = string | number;

type Entry = FoundOutput | (PostEntry & { [field in Exclude<keyof FoundOutput, keyof PostEntry>]?: never });

interface TableColumn {
  name: string;
  isInternal?: true;
  of(entry: Entry, folder: string): Cell | null | undefined;
}

const ownColumns: readonly TableColumn[] = [
  { name: 'address', isInternal: true, of: ({ address }) => address },
  { name: 'task', of: ({ task }) => task },
  { name: 'kind', of: ({ kind }) => kind },
  { name: 'key', of: ({ key }) => key },
  { name: 'take', of: ({ take }) => take },
  { name: 'path', of: ({ output }, folder) => output && `${folder}${output.path}` },
  { name: 'fileState', isInternal: true, of: ({ fileState }) => fileState },
  { name: 'type', of: ({ output }) => output?.type },
  { name: 'sha256', of: ({ output }) => output?.sha256 },
  { name: 'bytes', of: ({ output }) => output?.bytes },
  { name: 'width', of: ({ width }) => width },
  { name: 'height', of: ({ height }) => height },
  { name: 'seconds', of: ({ seconds }) => seconds },
  { name: 'contentCredentials', of: ({ contentCredentials }) => contentCredentials },
  { name: 'part', of: ({ part }) => part },
  { name: 'state', isInternal: true, of: ({ state }) => state },
  { name: 'verdict', isInternal: true, of: ({ verdict }) => verdict?.is },
  { name: 'by', isInternal: true, of: ({ verdict }) => verdict?.by },
  { name: 'reason', isInternal: true, of: ({ verdict }) => verdict?.reason },
  { name: 'note', isInternal: true, of: ({ verdict }) => verdict?.note },
  { name: 'credits', isInternal: true, of: ({ credits }) => credits },
  { name: 'job', isInternal: true, of: ({ job }) => job },
  { name: 'madeFrom', isInternal: true, of: ({ madeFrom }) => madeFrom.join(' ') },
  { name: 'model', isInternal: true, of: ({ model }) => model },
  { name: 'prompt', isInternal: true, of: ({ prompt }) => prompt },
  { name: 'tags', isInternal: true, of: ({ tags }) => tags.join(' ') },
];
const ownNames = new Set(ownColumns.map(({ name }) => name));
const internalNames = new Set(ownColumns.flatMap(({ name, isInternal }) => (isInternal ? [name] : [])));

const ownHeader = 'task,kind,key,take';

/**
 * Returns a table with a row for each file and each post. Order of columns: data, joined tables (`copy.title`), matrix,
 * columns of mediabatch, rights (`rights.holder`). If a data column has the name of a mediabatch column, it gets the
 * prefix `row.` or `matrix.`.
 */
export function outputsTable(
  { files, posts, folder, delivered }: OutputsList,
  textOf: (text: string) => string = (text) => text,
): (string | number)[][] {
  const entries: readonly Entry[] = [...files, ...posts];
  const all = [...columnsOf(entries), ...ownColumns, ...rightsOf(entries)];
  const columns = delivered === undefined ? all : all.filter(({ isInternal }) => isInternal !== true);
  const text = (cell: Cell | null | undefined) => (typeof cell === 'string' ? textOf(cell) : (cell ?? ''));
  // If a column name contained a line break, `isOwnList` would not recognize the list.
  const head = columns.map(({ name }) => columnName(textOf(name)));
  const rows = entries.map((entry) => columns.map((column) => text(column.of(entry, folder))));
  return delivered === undefined || delivered.length === 0 ? [head, ...rows] : joinEarlier([head, ...rows], delivered);
}

function joinEarlier([head = [], ...rows]: (string | number)[][], earlier: readonly JsonMap[]): (string | number)[][] {
  const before = Object.keys(earlier[0] ?? {}).filter((name) => !internalNames.has(name));
  const names = [...new Set([...before, ...head.map(String)])];
  const places = names.map((name) => head.indexOf(name));
  return [
    names,
    ...earlier.map((line) => names.map((name) => cellOf(line[name]) ?? '')),
    ...rows.map((row) => places.map((place) => row[place] ?? '')),
  ];
}

function columnsOf(entries: readonly Entry[]): TableColumn[] {
  const rowOf = ({ row }: Entry) => (isMap(row) ? row : row === undefined ? {} : { row });
  const ofRows = namesOf(entries, rowOf);
  const isTaken = (name: string) => ownNames.has(name) || ofRows.includes(name);
  return [
    ...ofRows.map((name): TableColumn => {
      const title = ownNames.has(name) ? `row.${name}` : name;
      return { name: title, of: (entry) => cellOf((rowOf(entry) as JsonMap)[name]) };
    }),
    ...namesOf(entries, ({ tables }) => tables ?? {}).flatMap((table) =>
      namesOf(entries, ({ tables }) => mapOf(tables?.[table])).map((name): TableColumn => {
        return { name: `${table}.${name}`, of: ({ tables }) => cellOf(mapOf(tables?.[table])[name]) };
      }),
    ),
    ...namesOf(entries, ({ matrix }) => matrix).map((name): TableColumn => {
      return { name: isTaken(name) ? `matrix.${name}` : name, of: ({ matrix }) => matrix[name] };
    }),
  ];
}

function rightsOf(entries: readonly Entry[]): TableColumn[] {
  return namesOf(entries, ({ rights }) => rights ?? {}).map((name) => {
    return { name: `rights.${name}`, of: ({ rights }) => cellOf(rights?.[name]) };
  });
}

function namesOf(entries: readonly Entry[], valuesOf: (entry: Entry) => object): string[] {
  return [...new Set(entries.flatMap((entry) => Object.keys(valuesOf(entry))))];
}

function cellOf(value: Json | undefined): Cell | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return isCalculable(value) ? Number(value) : value;
  return typeof value === 'number' ? value : JSON.stringify(value);
}

/** Returns whether to write a text as a number. `007`, `1.10` and an EAN stay text, because Excel would change them. */
function isCalculable(text: string): boolean {
  return text.length <= 11 && text !== 'NaN' && String(Number(text)) === text;
}

export function outputsView({ files, posts, folder }: OutputsList): Document {
  return [
    listOf<Entry>(
      [...files, ...posts],
      [
        { title: 'step', least: 8, cut: 'middle', of: ({ address }) => address },
        {
          title: 'file',
          least: 12,
          cut: 'middle',
          of: ({ output, job }) => (output === undefined ? `post ${job ?? ''}` : `${folder}${output.path}`),
        },
        { title: 'measures', of: measuresText },
        { title: 'size', align: 'right', of: ({ output }) => (output === undefined ? '' : bytesText(output.bytes)) },
        { title: 'credits', align: 'right', of: ({ credits }) => creditsText(credits) },
        { title: 'verdict', of: verdictCell },
        { title: 'note', least: 6, of: ({ verdict }) => verdict?.note ?? '' },
        { title: 'state', of: stateCell },
      ],
    ),
  ];
}

function measuresText({ width, height, seconds }: Entry): string {
  const size = width === undefined || height === undefined ? [] : [`${width}×${height}`];
  return [...size, ...(seconds === undefined ? [] : [elapsedText(seconds * 1000)])].join(' ');
}

function verdictCell({ verdict }: Entry): Text {
  if (verdict === undefined) return '';
  return (verdict.is === 'picked' ? good : bad)(verdict.is);
}

function stateCell({ state, fileState = 'intact' }: Entry): Text {
  const notes = [...(state === 'done' ? [] : [state]), ...(fileState === 'intact' ? [] : [`file ${fileState}`])];
  return warning(notes.join(', '));
}

export function outputsFooter({
  files,
  posts,
  without,
}: Pick<OutputsList, 'files' | 'posts'> & { without: number }): string {
  const away = files.filter(({ fileState }) => fileState !== 'intact').length;
  const parts = [
    countOf(files.length, 'file'),
    ...(posts.length > 0 ? [countOf(posts.length, 'post')] : []),
    ...(away > 0 ? [`${away} missing or changed on this machine`] : []),
    ...(without > 0 ? [`${countOf(without, 'step')} without files`] : []),
  ];
  return `${parts.join(', ')}\n`;
}

export interface OutputsList {
  campaign: string;
  files: readonly FoundOutput[];
  posts: readonly PostEntry[];
  /** Prefix that makes paths relative to the folder of the list. Empty, or ends in `/`. */
  folder: string;
  /** Rows of the folder's previous list whose files still exist. Set only for the list that `deliver` writes. */
  delivered?: readonly JsonMap[];
}

function outputsJson({ campaign, files, posts, folder }: OutputsList): Json {
  return jsonOf('outputs', {
    campaign,
    files: files.map((file) => fileJson(file, folder)),
    ...(posts.length > 0 && { posts: posts.map((post) => entryJson(post)) }),
  });
}

function fileJson(file: FoundOutput, folder: string): { [field: string]: Json } {
  const { path, sha256, bytes, type, edited, accepted } = file.output;
  const { fileState, width, height, seconds, part, contentCredentials, verdict } = file;
  return entryJson(file, {
    ...{ path: `${folder}${path}`, fileState, type, sha256, bytes },
    ...defined({ width, height, seconds, part, contentCredentials, edited, accepted }),
    ...defined({ verdict: verdict && { ...verdict } }),
  });
}

function entryJson(entry: PostEntry, ofFile: { [field: string]: Json } = {}): { [field: string]: Json } {
  const { verdict, ...facts } = ofFile;
  const { address, task, kind, key, row, tables, matrix, take, state, job, credits, model, prompt, request } = entry;
  return {
    ...{ address, task, kind },
    ...defined({ key, row, tables }),
    ...(Object.keys(matrix).length > 0 && { matrix: { ...matrix } }),
    ...defined({ take }),
    ...facts,
    state,
    ...defined({ verdict, job }),
    credits,
    madeFrom: [...entry.madeFrom],
    ...defined({ model, prompt, request }),
    ...(entry.tags.length > 0 && { tags: [...entry.tags] }),
    ...defined({ rights: entry.rights && { ...entry.rights } }),
  };
}
