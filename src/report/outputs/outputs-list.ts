import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { readCsv } from '../../manifest/rows/read-csv.ts';
import { readSource } from '../../manifest/yaml/source.ts';
import type { FoundOutput } from '../../plan/outputs/list-outputs.ts';
import { bad, type Document, good, type Text, table, warning } from '../document.ts';
import { bytesText, countOf, creditsText, elapsedText } from '../numbers.ts';
import { csvText, safeJson, safeText } from '../safe-text.ts';

export type ListFormat = 'csv' | 'json' | 'jsonl';

export function listFormatOf(ending: string): ListFormat | undefined {
  return (['csv', 'json', 'jsonl'] as const).find((format) => ending.toLowerCase() === `.${format}`);
}

/** Without a byte order mark, spreadsheets read UTF-8 in the code page of their system. */
const byteOrderMark = '\ufeff';

/**
 * List of outputs for programs and spreadsheets. CSV in a file begins with a byte order mark and contains strings
 * unchanged. On a `stream`, which may be a terminal or a build log, it has no byte order mark, and control sequences
 * are escaped.
 */
export function outputsList(view: OutputsList, format: ListFormat, into: 'file' | 'stream'): string {
  switch (format) {
    case 'csv':
      return into === 'file' ? byteOrderMark + outputsCsv(view, asItIs) : outputsCsv(view, harmless);
    case 'json':
      return `${safeJson(outputsJson(view), 2)}\n`;
    case 'jsonl':
      return view.files.map((file) => `${safeJson(outputJson(file, view))}\n`).join('');
    default:
      return format satisfies never;
  }
}

/**
 * Whether a file that starts with this text is a list of this format. An empty file counts, because a list without
 * files may be empty.
 */
export function isOwnList(format: ListFormat, start: string): boolean {
  switch (format) {
    case 'csv':
      return /^[^\r\n]*/.exec(start)?.[0].includes(ownHeader) === true;
    case 'json':
      return /^\{\s*"mediabatch": "outputs"/.test(start);
    case 'jsonl':
      return start.replaceAll('\0', '') === '' || start.startsWith('{"mediabatch":"output"');
    default:
      return format satisfies never;
  }
}

/** Digests by path in a CSV list of outputs. Empty for any other text. */
export function listedDigests(list: string): ReadonlyMap<string, string> {
  const { rows } = readCsv(readSource('', list), '', { separator: ',' });
  const found = new Map<string, string>();
  for (const { value } of rows?.rows ?? []) {
    if (isMap(value) && typeof value.path === 'string' && typeof value.sha256 === 'string')
      found.set(value.path, value.sha256);
  }
  return found;
}

const plain = /^(?!.*(?:##|::))[ -~]*$/;

/** Escapes a text. Most texts are safe, and a quick check finds that out. */
function harmless(text: string): string {
  return plain.test(text) ? text : safeText(text, Number.POSITIVE_INFINITY);
}

function asItIs(text: string): string {
  return text;
}

type Cell = string | number;

/** Columns that every table has, in their order, after those of the data. */
const ownColumns: readonly { name: string; of(file: FoundOutput, folder: string): Cell | null | undefined }[] = [
  { name: 'address', of: ({ address }) => address },
  { name: 'task', of: ({ task }) => task },
  { name: 'kind', of: ({ kind }) => kind },
  { name: 'key', of: ({ key }) => key },
  { name: 'take', of: ({ take }) => take },
  { name: 'path', of: ({ output }, folder) => `${folder}${output.path}` },
  { name: 'fileState', of: ({ fileState }) => fileState },
  { name: 'type', of: ({ output }) => output.type },
  { name: 'sha256', of: ({ output }) => output.sha256 },
  { name: 'bytes', of: ({ output }) => output.bytes },
  { name: 'width', of: ({ width }) => width },
  { name: 'height', of: ({ height }) => height },
  { name: 'seconds', of: ({ seconds }) => seconds },
  { name: 'contentCredentials', of: ({ contentCredentials }) => contentCredentials },
  { name: 'part', of: ({ part }) => part },
  { name: 'state', of: ({ state }) => state },
  { name: 'verdict', of: ({ verdict }) => verdict?.is },
  { name: 'by', of: ({ verdict }) => verdict?.by },
  { name: 'reason', of: ({ verdict }) => verdict?.reason },
  { name: 'note', of: ({ verdict }) => verdict?.note },
  { name: 'credits', of: ({ credits }) => credits },
  { name: 'job', of: ({ job }) => job },
  { name: 'madeFrom', of: ({ madeFrom }) => madeFrom.join(' ') },
  { name: 'model', of: ({ model }) => model },
  { name: 'prompt', of: ({ prompt }) => prompt },
  { name: 'tags', of: ({ tags }) => tags.join(' ') },
];
const ownNames = new Set(ownColumns.map(({ name }) => name));

/** Identifies our own table by its header. */
const ownHeader = ownColumns
  .slice(0, 4)
  .map(({ name }) => name)
  .join(',');

/**
 * CSV with a line for each file: the columns of the data, values of the matrix, then mediabatch's own columns. A name
 * that is already in use gets the prefix `row.` or `matrix.`; `rights.` is always prefixed. `textOf` formats a string
 * of the data.
 */
export function outputsCsv({ files, folder }: OutputsList, textOf: (text: string) => string): string {
  const columns = [...columnsOf(files), ...ownColumns, ...rightsOf(files)];
  const text = (cell: Cell | null | undefined) => (typeof cell === 'string' ? textOf(cell) : (cell ?? ''));
  const head = columns.map(({ name }) => textOf(name));
  return csvText([head, ...files.map((file) => columns.map((column) => text(column.of(file, folder))))]);
}

/** Columns of rows and matrix axes, each in the order of first appearance. */
function columnsOf(files: readonly FoundOutput[]): { name: string; of(file: FoundOutput): Cell | null | undefined }[] {
  const ofRows = namesOf(files, ({ row }) => (isMap(row) ? row : row === undefined ? {} : { row }));
  const ofAxes = namesOf(files, ({ matrix }) => matrix);
  const rows = ofRows.map((name) => ({
    name: ownNames.has(name) ? `row.${name}` : name,
    of: ({ row }: FoundOutput) => cellOf(isMap(row) ? row[name] : name === 'row' ? row : undefined),
  }));
  const axes = ofAxes.map((name) => ({
    name: ownNames.has(name) || ofRows.includes(name) ? `matrix.${name}` : name,
    of: ({ matrix }: FoundOutput) => matrix[name],
  }));
  return [...rows, ...axes];
}

function rightsOf(files: readonly FoundOutput[]) {
  return namesOf(files, ({ rights }) => rights ?? {}).map((name) => ({
    name: `rights.${name}`,
    of: ({ rights }: FoundOutput) => cellOf(rights?.[name]),
  }));
}

function namesOf(files: readonly FoundOutput[], mapOf: (file: FoundOutput) => object): string[] {
  const names = new Set<string>();
  let last: object | undefined;
  for (const file of files) {
    const map = mapOf(file);
    if (map === last) continue;
    last = map;
    for (const name of Object.keys(map)) names.add(name);
  }
  return [...names];
}

/** Cell of a value. Lists and maps in JSON data are written as JSON. */
function cellOf(value: Json | undefined): Cell | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}

export function outputsView({ files, folder }: OutputsList): Document {
  const columns = [
    { title: 'step', least: 8, cut: 'middle' as const },
    { title: 'file', least: 12, cut: 'middle' as const },
    { title: 'measures', spare: true as const },
    { title: 'size', align: 'right' as const },
    { title: 'credits', align: 'right' as const },
    { title: 'verdict' },
    { title: 'note', least: 6 },
    { title: 'state' },
    { title: 'prompt', least: 16, spare: true as const },
  ];
  const cells = files.map((file): Text[] => [
    file.address,
    `${folder}${file.output.path}`,
    measuresText(file),
    bytesText(file.output.bytes),
    creditsText(file.credits),
    verdictCell(file),
    file.verdict?.note ?? '',
    stateCell(file),
    file.prompt ?? '',
  ]);
  return [table(columns, cells)];
}

function measuresText({ width, height, seconds }: FoundOutput): string {
  const size = width === undefined || height === undefined ? [] : [`${width}×${height}`];
  return [...size, ...(seconds === undefined ? [] : [elapsedText(seconds * 1000)])].join(' ');
}

function verdictCell({ verdict }: FoundOutput): Text {
  if (verdict === undefined) return '';
  return (verdict.is === 'picked' ? good : bad)(verdict.is);
}

/** State of a file. Empty if it needs no attention. */
function stateCell({ state, fileState }: FoundOutput): Text {
  const notes = [...(state === 'done' ? [] : [state]), ...(fileState === 'intact' ? [] : [`file ${fileState}`])];
  return warning(notes.join(', '));
}

/** Footer that says what the list omits. */
export function outputsFooter({ files, without }: { files: readonly FoundOutput[]; without: number }): string {
  const away = files.filter(({ fileState }) => fileState !== 'intact').length;
  const parts = [
    countOf(files.length, 'file'),
    ...(away > 0 ? [`${away} not here as ${away === 1 ? 'it was' : 'they were'} saved`] : []),
    ...(without > 0 ? [`${countOf(without, 'step')} without one`] : []),
  ];
  return `${parts.join(', ')}\n`;
}

/** Files of a campaign, and how to print them. */
interface OutputsList {
  campaign: string;
  files: readonly FoundOutput[];
  /** Prefix that makes paths relative to the location of the list: empty, or ends in `/`. */
  folder: string;
}

export function outputsJson({ campaign, files, folder }: OutputsList): Json {
  return { mediabatch: 'outputs', version: 1, campaign, files: files.map((file) => fileJson(file, folder)) };
}

/** JSON of a single file: a line of JSON Lines, or a sidecar file. */
export function outputJson(file: FoundOutput, { campaign, folder }: Omit<OutputsList, 'files'>): Json {
  return { mediabatch: 'output', version: 1, campaign, ...fileJson(file, folder) };
}

function fileJson(file: FoundOutput, folder: string): { [field: string]: Json } {
  const { path, sha256, bytes, type, edited, accepted } = file.output;
  return {
    ...{ address: file.address, task: file.task, kind: file.kind },
    ...given({ key: file.key, row: file.row, matrix: some({ ...file.matrix }), take: file.take }),
    ...{ path: `${folder}${path}`, fileState: file.fileState, type, sha256, bytes },
    ...given({ width: file.width, height: file.height, seconds: file.seconds, part: file.part }),
    ...given({ contentCredentials: file.contentCredentials }),
    ...given({ edited, accepted }),
    state: file.state,
    ...given({ verdict: file.verdict && { ...file.verdict }, job: file.job }),
    credits: file.credits,
    madeFrom: [...file.madeFrom],
    ...given({ model: file.model, prompt: file.prompt, request: file.request }),
    ...given({ tags: file.tags.length === 0 ? undefined : [...file.tags], rights: file.rights && { ...file.rights } }),
  };
}

/** Removes undefined fields. */
function given(fields: { [field: string]: Json | undefined }): { [field: string]: Json } {
  const known: { [field: string]: Json } = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) known[name] = value;
  return known;
}

function some<Map extends object>(map: Map): Map | undefined {
  return Object.keys(map).length === 0 ? undefined : map;
}
