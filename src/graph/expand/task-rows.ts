import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, ownValue, type Path, shorten, unknownValue } from '../../ground/values.ts';
import { isWholeVar } from '../../manifest/check/text-rules.ts';
import { besideManifest, pathFrom, patternFrom } from '../../manifest/file-path.ts';
import { type Task, taskPath } from '../../manifest/manifest.ts';
import { nameSeparator } from '../../manifest/rows/csv-separator.ts';
import { extensionOf, readRows, rowsFromList } from '../../manifest/rows/read-rows.ts';
import type { DataFile } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { hasParts, shapeOfParts } from '../check/check-parts.ts';
import { nameTasks } from '../check/merge-mistakes.ts';
import { checkRowSchema } from '../check/row-schema.ts';
import type { Expansion } from '../expansion.ts';
import type { TaskRows } from './draft.ts';
import { rowsOfFiles } from './file-rows.ts';

/** Reads the rows of every task. A data file is read once, however many tasks use it. */
export function readTaskRows(expansion: Expansion): void {
  const files = new Map<string, TaskRows>();
  const empty = new Map<string, Task[]>();
  for (const task of expansion.manifest.tasks) {
    const rows = readRowsOf(task, files, expansion);
    expansion.rows.set(task.id, rows);
    if (typeof rows !== 'object' || task.rows.from === 'parts') continue;
    if (rows.rows.length > 0) checkRowSchema(task, rows, expansion);
    else empty.set(rows.label, [...(empty.get(rows.label) ?? []), task]);
  }
  for (const [label, tasks] of empty) reportNoRows(tasks, label, expansion);
}

function reportNoRows(tasks: readonly Task[], label: string, expansion: Expansion): void {
  const [task] = tasks;
  if (task === undefined) return;
  const { rows } = task;
  const place = expansion.manifest.places.value(taskPath(task.id, 'foreach'));
  const why = rows.from === 'files' ? `no file matches ${shorten(rows.pattern)}` : `${label} has no rows`;
  const hint =
    rows.from === 'files'
      ? 'patterns are looked up beside the file that they are written in; `*` stays in one folder, `**` goes into all; hidden files are left out'
      : 'add a row, or remove the task';
  const message =
    tasks.length === 1 ? `task \`${task.id}\` makes no steps: ${why}` : `${tasks.length} tasks make no steps: ${why}`;
  const trail = tasks.length === 1 ? {} : { trail: [nameTasks(tasks.map(({ id }) => id))] };
  expansion.reportError({ code: 'MB1408', message, hint, place, ...trail });
}

function readRowsOf(task: Task, files: Map<string, TaskRows>, expansion: Expansion): TaskRows {
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
    case 'file': {
      const name = pathFrom(task.folder, source.path);
      const id = `${source.separator ?? ''} ${name}`;
      const rows = files.get(id) ?? rowsOfFile(name, { path, separator: source.separator }, expansion);
      files.set(id, rows);
      return rows;
    }
    case 'files':
      return rowsOfPattern(task, source.pattern, expansion);
    case 'parts':
      return hasParts(task, source, expansion) ? shapeOfParts(source) : 'unknown';
    default: {
      const never: never = source;
      throw new Error(`internal error: rows from ${JSON.stringify(never)}`);
    }
  }
}

/** Returns rows as they were read, after reporting what is wrong with them. */
function keepRows({ rows, diagnostics }: ReturnType<typeof readRows>, expansion: Expansion): TaskRows {
  for (const diagnostic of diagnostics) expansion.report(diagnostic);
  return rows ?? 'unknown';
}

/** Returns the value of `{{vars.name}}` and its path. Absent when the value is wrong, which was reported. */
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

function rowsOfVar(text: string, path: Path, expansion: Expansion): TaskRows {
  const found = readVar(text, path, expansion);
  if (found === undefined) return 'unknown';
  const placeOf = (index: number) => expansion.manifest.places.value([...found.path, index]);
  const label = `\`${found.path.join('.')}\``;
  return keepRows(rowsFromList(found.value, { label, placeOf, code: 'MB1103' }), expansion);
}

function rowsOfFile(
  name: string,
  { path, separator }: { path: Path; separator: string | undefined },
  expansion: Expansion,
): TaskRows {
  const { manifest, facts } = expansion;
  const place = manifest.places.value(path);
  if (extensionOf(name) === undefined) {
    const message = `\`${shorten(name)}\` is not the path of a data file`;
    const hint = 'name a .csv, .tsv, .json, .jsonl, .yaml or .yml file, or write an inline list: [en, de]';
    expansion.reportError({ code: 'MB1103', message, hint, place });
    return 'unknown';
  }
  const file = facts.data.get(name);
  if (file === undefined) throw new Error(`internal error: the data file ${name} was not read`);
  if ('problem' in file) {
    const { code, says, hint } = fileProblems[file.problem];
    const detail = file.detail === undefined ? '' : ` (${shorten(file.detail, 120)})`;
    expansion.reportError({ code, message: `${name} ${says}${detail}`, hint, place, ...usersOf(name, expansion) });
    return 'unknown';
  }
  if (!('text' in file)) throw new Error(`internal error: the data file ${name} was listed, not read`);
  const read = readRows({ path: name, file: besideManifest(manifest.file, name), text: file.text, separator });
  const { rows } = read;
  if (rows?.separator !== undefined && rows.isGuess === true) {
    expansion.notices.push(`the columns of ${name} are separated by ${nameSeparator(rows.separator)}`);
  }
  const users = read.diagnostics.length === 0 ? {} : usersOf(name, expansion);
  return keepRows({ ...read, diagnostics: read.diagnostics.map((one) => ({ ...one, ...users })) }, expansion);
}

/** Names who reads a file, where that is not one task alone. */
function usersOf(name: string, { manifest }: Expansion): Pick<Diagnostic, 'trail'> {
  const users = manifest.tasks.filter(
    ({ rows, folder }) => rows.from === 'file' && pathFrom(folder, rows.path) === name,
  );
  return users.length < 2 ? {} : { trail: [nameTasks(users.map(({ id }) => id))] };
}

function rowsOfPattern(task: Task, written: string, expansion: Expansion): TaskRows {
  const { manifest, facts } = expansion;
  const pattern = patternFrom(task.folder, written);
  const place = () => manifest.places.value(taskPath(task.id, 'foreach'));
  const found = facts.data.get(pattern);
  if (found === undefined) throw new Error(`internal error: the files ${pattern} were not listed`);
  if (!('files' in found)) {
    const detail = 'problem' in found && found.detail !== undefined ? ` (${shorten(found.detail, 120)})` : '';
    const message = `the files ${shorten(pattern)} cannot be listed${detail}`;
    const hint = 'write a pattern of paths below the folder of the manifest, as in photos/*.jpg';
    expansion.reportError({ code: 'MB1301', message, hint, place: place() });
    return 'unknown';
  }
  // A name that is not valid text arrives with this character in it: no prompt can hold it, and no file opens by it.
  const odd = found.files.find((file) => /\ufffd|\p{Surrogate}/u.test(file));
  if (odd === undefined) return rowsOfFiles(pattern, { files: found.files, folder: task.folder, place });
  const shown = shorten(odd.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
  const message = `${shorten(pattern)} matches a file whose name is not UTF-8 text: ${shown}`;
  expansion.reportError({ code: 'MB1301', message, hint: 'rename it', place: place() });
  return 'unknown';
}

/** Messages for data files that could not be read. */
const fileProblems = {
  missing: {
    code: 'MB1301',
    says: 'does not exist',
    hint: 'data files are looked up beside the manifest; check the name and its upper and lower case',
  },
  outside: {
    code: 'MB1303',
    says: 'is outside the folder of the manifest',
    hint: 'move the file below the folder of the manifest and name it by a relative path',
  },
  'not-a-file': { code: 'MB1301', says: 'is not a regular file', hint: 'name a file, not a folder or a device' },
  'too-large': { code: 'MB1301', says: 'is too large', hint: 'split it into several files, one per task' },
  unreadable: {
    code: 'MB1301',
    says: 'cannot be read',
    hint: 'check its permissions and that it is a UTF-8 text',
  },
} as const satisfies Record<Extract<DataFile, { problem: string }>['problem'], object>;
