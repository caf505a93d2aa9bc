import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, groupBy, isMap, mustGet, ownValue, type Path, shorten, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { isWholeVar } from '../../manifest/check/text-rules.ts';
import { besideManifest, pathFrom, patternFrom } from '../../manifest/file-path.ts';
import { type RowSource, type Table, type Task, taskPath } from '../../manifest/manifest.ts';
import { nameSeparator } from '../../manifest/rows/read-csv.ts';
import { readWholeTable } from '../../manifest/rows/read-row-source.ts';
import { extensionOf, readRows, rowsFromList } from '../../manifest/rows/read-rows.ts';
import { readSheet } from '../../manifest/rows/read-table.ts';
import { explainFileProblem, type Row, type Rows } from '../../manifest/rows/rows.ts';
import { listNames, suggestName } from '../../manifest/suggest.ts';
import { forbiddenIn } from '../address.ts';
import { checkRowSchema } from '../check/row-schema.ts';
import type { Expansion } from '../expansion.ts';
import type { ReadTable, TaskRows } from './draft.ts';

export function readTaskRows(expansion: Expansion): void {
  const empty: { task: Task; label: string }[] = [];
  for (const task of expansion.manifest.tasks) {
    const { id, rows: source, schema, folder } = task;
    const rows = readRowsOf(task, expansion);
    expansion.rows.set(id, rows);
    if (typeof rows !== 'object' || source.from === 'parts') continue;
    if (rows.rows.length === 0) {
      empty.push({ task, label: rows.label });
    } else if (schema !== undefined && source.from === 'file') {
      const paths = { path: pathFrom(folder, schema), data: pathFrom(folder, source.path) };
      checkRowSchema({ ...paths, at: taskPath(id, 'schema') }, rows, expansion);
    }
  }
  for (const [label, own] of groupBy(empty, (one) => one.label)) {
    const tasks = own.map(({ task }) => task);
    reportNoRows(tasks, label, expansion);
  }
}

/** Reports that tasks have no rows, because the source of their rows is empty. */
function reportNoRows(tasks: readonly Task[], label: string, expansion: Expansion): void {
  const [first] = tasks;
  if (first === undefined) return;
  const { id, rows } = first;
  const below =
    rows.from === 'file' && rows.header !== undefined ? ` below its column names (\`header: ${rows.header}\`)` : '';
  const [why, hint] =
    rows.from === 'files'
      ? [
          `no file matches ${shorten(rows.pattern)}`,
          'patterns are relative to the file that contains the pattern; `*` matches in one folder, `**` in all; hidden files are ignored',
        ]
      : [`${label} has no rows${below}`, 'add a row, or remove the task'];
  const place = expansion.manifest.places.value(taskPath(id, 'foreach'));
  const who = tasks.length === 1 ? `task \`${id}\` makes` : `${nameTasks(tasks)} make`;
  expansion.reportError({ code: 'MB1408', message: `${who} no steps: ${why}`, hint, place });
}

function nameTasks(tasks: readonly Task[]): string {
  return `tasks ${listNames(tasks.map(({ id }) => id))}`;
}

function readRowsOf(task: Task, expansion: Expansion): TaskRows {
  const { places } = expansion.manifest;
  const path = taskPath(task.id, 'foreach');
  const source = task.rows;
  switch (source.from) {
    case 'nowhere':
      return 'none';
    case 'unknown':
      return 'unknown';
    case 'list': {
      const placeOf = (index: number) => places.value([...path, index]);
      return keepRows(rowsFromList(source.rows, { label: 'the list', placeOf, code: 'MB1103' }), expansion);
    }
    case 'var':
      return rowsOfVar(source.text, path, expansion);
    case 'table':
      return findTable(source.text, path, expansion)?.rows ?? 'unknown';
    case 'file':
      return readFileRows(pathFrom(task.folder, source.path), { ...source, path }, expansion);
    case 'files':
      return rowsOfPattern(task, source.pattern, expansion);
    case 'parts':
      return hasParts(task, source, expansion) ? shapeOfParts(source) : 'unknown';
    default:
      return source satisfies never;
  }
}

export function readVar(text: string, at: Path, expansion: Expansion): { value: Json; path: Path } | undefined {
  if (!isWholeVar(text)) return undefined;
  const { manifest, vars } = expansion;
  const written = text.replaceAll(/[{}\s]/g, '');
  const [, ...parts] = written.split('.');
  let value: Json = vars;
  for (const part of parts) {
    const inner = ownValue(value, part);
    if (inner === unknownValue) return undefined;
    if (inner === undefined) {
      const start = text.indexOf('vars');
      const known = isMap(value) ? Object.keys(value) : [];
      const hint = suggestName(part, known, { what: value === vars ? 'vars' : 'it has' });
      const place = manifest.places.within(at, { text, start, end: start + written.length });
      expansion.reportError({ code: 'MB1203', message: `\`${written}\` is not known`, hint, place });
      return undefined;
    }
    value = inner;
  }
  return { value, path: ['vars', ...parts] };
}

export function findTable(text: string, at: Path, expansion: Expansion): ReadTable | undefined {
  const name = readWholeTable(text) ?? '';
  const found = expansion.tables.get(name);
  if (found !== undefined) return found;
  const start = text.indexOf(name);
  const place = expansion.manifest.places.within(at, { text, start, end: start + name.length });
  const known = [...expansion.tables.keys()];
  const hint = known.length === 0 ? 'declare it under `tables:`' : suggestName(name, known, { what: 'tables' });
  expansion.reportError({ code: 'MB1203', message: `there is no table \`${shorten(name)}\``, hint, place });
  return undefined;
}

function rowsOfVar(text: string, path: Path, expansion: Expansion): TaskRows {
  const found = readVar(text, path, expansion);
  if (found === undefined) return 'unknown';
  const placeOf = (index: number) => expansion.manifest.places.value([...found.path, index]);
  const label = `\`${found.path.join('.')}\``;
  return keepRows(rowsFromList(found.value, { label, placeOf, code: 'MB1103' }), expansion);
}

function rowsOfPattern(task: Task, written: string, expansion: Expansion): TaskRows {
  const { manifest, facts } = expansion;
  const pattern = patternFrom(task.folder, written);
  const place = () => manifest.places.value(taskPath(task.id, 'foreach'));
  const found = mustGet(facts.data, pattern);
  if (!('files' in found)) {
    const detail = 'problem' in found && found.detail !== undefined ? ` (${shorten(found.detail, 120)})` : '';
    const message = `the files ${shorten(pattern)} cannot be listed${detail}`;
    const hint = 'write a pattern of paths below the folder of the manifest, as in photos/*.jpg';
    expansion.reportError({ code: 'MB1301', message, hint, place: place() });
    return 'unknown';
  }
  // A file whose name is not valid Unicode cannot be opened. Its name contains U+FFFD or half of a surrogate pair.
  const odd = found.files.find((file) => /\ufffd|\p{Surrogate}/u.test(file));
  if (odd === undefined) return rowsOfFiles(pattern, { files: found.files, folder: task.folder, place });
  const shown = shorten(odd.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
  const message = `${shorten(pattern)} matches a file whose name is not UTF-8 text: ${shown}`;
  expansion.reportError({ code: 'MB1301', message, hint: 'rename it', place: place() });
  return 'unknown';
}

const columns = ['path', 'name', 'stem', 'extension', 'folder'];

/**
 * Makes a row for each matching file. The key is the file name without extension if all names differ, else the path.
 */
function rowsOfFiles(pattern: string, found: { files: readonly string[]; folder: string; place: () => Place }): Rows {
  const parts = found.files.map((file) => splitPath(seenFrom(found.folder, file)));
  const stems = new Set(parts.map(({ stem }) => stem));
  const byStem = stems.size === parts.length && parts.every(({ stem }) => forbiddenIn(stem) === undefined);
  const rows = parts.map((part): Row => {
    const path = part.path.replace(/^(\.\.\/)+|\.[^./]*$/g, '').replaceAll(/[\s,@/\\*?]+/g, '-');
    const key = byStem ? part.stem : path;
    return { value: Object.assign(emptyMap(), part), label: part.path, place: found.place, key };
  });
  return { rows, label: pattern, columns };
}

function seenFrom(folder: string, path: string): string {
  if (path.startsWith(folder)) return path.slice(folder.length);
  return `${'../'.repeat(folder.split('/').length - 1)}${path}`;
}

function splitPath(path: string): { path: string; name: string; stem: string; extension: string; folder: string } {
  const at = path.lastIndexOf('/');
  const name = path.slice(at + 1);
  const dot = name.lastIndexOf('.');
  return {
    path,
    name,
    stem: dot > 0 ? name.slice(0, dot) : name,
    extension: dot > 0 ? name.slice(dot + 1) : '',
    folder: at === -1 ? '' : path.slice(0, at),
  };
}

export type PartSource = Extract<RowSource, { from: 'parts' }>;

const partColumns = ['number', 'order', 'url', 'id', 'key'];

export function shapeOfParts(source: PartSource): Rows {
  return { rows: [], label: `\`tasks.${source.task}.${source.parts}\``, columns: partColumns };
}

function hasParts(task: Task, source: PartSource, expansion: Expansion): boolean {
  const { manifest } = expansion;
  const place = manifest.places.value(taskPath(task.id, 'foreach'));
  const producer = manifest.tasks.find(({ id }) => id === source.task);
  const written = `tasks.${source.task}.${source.parts}`;
  const wrong = (code: 'MB1203' | 'MB1403' | 'MB1405', message: string, hint: string): false => {
    expansion.reportError({ code, message, hint, place });
    return false;
  };
  if (producer === undefined) {
    const names = manifest.tasks.map(({ id }) => id).filter((id) => id !== task.id);
    const message = `\`${written}\` names a task that does not exist: \`${shorten(source.task)}\``;
    return wrong('MB1403', message, suggestName(source.task, names, { what: 'tasks' }));
  }
  const kind = producer.kind === undefined ? undefined : kinds[producer.kind];
  if (kind === undefined) return true;
  if (kind.parts === undefined) {
    const having = Object.values(kinds).flatMap(({ name, parts }) =>
      parts === undefined ? [] : [`${name} (${parts.name})`],
    );
    const message = `\`${written}\` is not a list: a task of kind ${kind.name} gives one output`;
    return wrong('MB1203', message, `kinds that give a list: ${having.join(', ')}`);
  }
  if (kind.parts.name !== source.parts) {
    const message = `\`${written}\` is not known: a task of kind ${kind.name} gives \`${kind.parts.name}\``;
    return wrong('MB1203', message, `write foreach: "{{tasks.${source.task}.${kind.parts.name}}}"`);
  }
  if (producer.gate?.is === 'choose') {
    const message = `\`${written}\` cannot be used in \`foreach\`: the output of \`${source.task}\` is known only after users picked at its gate`;
    return wrong(
      'MB1405',
      message,
      `write gate: approve for \`${source.task}\`, or use the parts of a task without a gate`,
    );
  }
  return true;
}

type TableOptions = Pick<Table, 'separator' | 'header' | 'sheet'>;

export function readFileRows(
  name: string,
  from: TableOptions & { path: Path },
  expansion: Expansion,
): 'unknown' | Rows {
  const id = JSON.stringify([name, from.separator, from.header, from.sheet]);
  const rows = expansion.files.get(id) ?? rowsOfFile(name, from, expansion);
  expansion.files.set(id, rows);
  return rows;
}

function rowsOfFile(
  name: string,
  { path, separator, header, sheet }: TableOptions & { path: Path },
  expansion: Expansion,
): 'unknown' | Rows {
  const { manifest, facts } = expansion;
  const place = manifest.places.value(path);
  if (extensionOf(name) === undefined) {
    const message = `\`${shorten(name)}\` is not the path of a data file`;
    const hint =
      'name a .csv, .tsv, .xlsx, .json, .jsonl, .ndjson, .yaml or .yml file, or write an inline list: [en, de]';
    expansion.reportError({ code: 'MB1103', message, hint, place });
    return 'unknown';
  }
  const file = mustGet(facts.data, name);
  if ('problem' in file) {
    expansion.reportError({ ...explainFileProblem(name, file), place, trail: usersOf(name, expansion) });
    return 'unknown';
  }
  if ('files' in file) throw new Error(`internal error: the data file ${name} was listed, not read`);
  const shown = besideManifest(manifest.file, name);
  const read =
    'workbook' in file
      ? readSheet(file.workbook, { file: shown, label: name, sheet, header, place })
      : readRows({ path: name, file: shown, text: file.text, separator, header, table: tableAt(path) });
  const { rows } = read;
  if (rows?.separator !== undefined && rows.isGuess === true) {
    expansion.notices.push(`the columns of ${name} are separated by ${nameSeparator(rows.separator)}`);
  }
  for (const error of rows?.cellErrors ?? []) expansion.cellErrors.push(error);
  const trail = read.diagnostics.length === 0 ? undefined : usersOf(name, expansion);
  return keepRows({ ...read, diagnostics: read.diagnostics.map((one) => ({ ...one, trail })) }, expansion);
}

/** If several tasks read their rows from a file, returns a text with the names of these tasks. */
function usersOf(name: string, { manifest }: Expansion): string[] | undefined {
  const users = manifest.tasks.filter(
    ({ rows, folder }) => rows.from === 'file' && pathFrom(folder, rows.path) === name,
  );
  return users.length > 1 ? [nameTasks(users)] : undefined;
}

function tableAt([section, name]: Path): string | undefined {
  return section === 'tables' ? String(name) : undefined;
}

function keepRows({ rows, diagnostics }: ReturnType<typeof readRows>, expansion: Expansion): 'unknown' | Rows {
  for (const diagnostic of diagnostics) expansion.report(diagnostic);
  return rows ?? 'unknown';
}
