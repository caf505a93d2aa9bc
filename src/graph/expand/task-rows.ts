import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap, ownValue, type Path, shorten, unknownValue } from '../../ground/values.ts';
import type { SchemaCompiler } from '../../manifest/check/json-schema.ts';
import { isWholeVar } from '../../manifest/check/text-rules.ts';
import { besideManifest, pathFrom, patternFrom } from '../../manifest/file-path.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { extensionOf, readRows, rowsFromList } from '../../manifest/rows/read-rows.ts';
import type { DataFile, Rows } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { checkParts, shapeOfParts } from '../check/check-parts.ts';
import { checkRowSchema } from '../check/row-schema.ts';
import { rowsOfFiles } from './file-rows.ts';

/** The rows of a task; `none`: it has no `foreach`; `unknown`: they are wrong, which has been reported. */
export type TaskRows = 'none' | 'unknown' | Rows;

/** The rows of every task by its id. A data file is read once, however many tasks use it. */
export function readTaskRows(
  manifest: Manifest,
  facts: { data: ReadonlyMap<string, DataFile>; vars: JsonMap; schemaCompiler?: SchemaCompiler },
): { rows: Map<string, TaskRows>; diagnostics: Diagnostic[] } {
  const files = new Map<string, TaskRows>();
  const rows = new Map<string, TaskRows>();
  const diagnostics: Diagnostic[] = [];
  for (const task of manifest.tasks) {
    const found = rowsOf(task, { manifest, ...facts, files });
    rows.set(task.id, found.rows);
    diagnostics.push(...found.diagnostics);
    if (typeof found.rows !== 'object' || task.rows.from === 'parts') continue;
    if (found.rows.rows.length > 0) {
      diagnostics.push(...checkRowSchema(task, found.rows, { manifest, ...facts }));
      continue;
    }
    if (task.rows.from === 'files') {
      diagnostics.push(nothingMatches(task, manifest));
      continue;
    }
    const message = `task \`${task.id}\` makes no steps: ${found.rows.label} has no rows`;
    const place = manifest.places.value(taskPath(task.id, 'foreach'));
    diagnostics.push({ code: 'MB1408', severity: 'error', message, hint: 'add a row, or remove the task', place });
  }
  return { rows, diagnostics };
}

interface Found {
  rows: TaskRows;
  diagnostics: Diagnostic[];
}

function rowsOf(
  task: Task,
  from: { manifest: Manifest; data: ReadonlyMap<string, DataFile>; vars: JsonMap; files: Map<string, TaskRows> },
): Found {
  const { places } = from.manifest;
  const path = taskPath(task.id, 'foreach');
  const source = task.rows;
  switch (source.from) {
    case 'nowhere':
      return { rows: 'none', diagnostics: [] };
    case 'unknown':
      return { rows: 'unknown', diagnostics: [] };
    case 'list': {
      const placeOf = (index: number) => places.value([...path, index]);
      const { rows, diagnostics } = rowsFromList(source.rows, { label: 'the list', placeOf, code: 'MB1103' });
      return { rows: rows ?? 'unknown', diagnostics };
    }
    case 'var':
      return rowsOfVar(source.text, { ...from, path });
    case 'file': {
      const name = pathFrom(task.folder, source.path);
      const known = from.files.get(name);
      if (known !== undefined) return { rows: known, diagnostics: [] };
      const found = rowsOfFile(name, { ...from, path });
      from.files.set(name, found.rows);
      return found;
    }
    case 'files':
      return rowsOfPattern(patternFrom(task.folder, source.pattern), { ...from, path, folder: task.folder });
    case 'parts': {
      const diagnostics = checkParts(task, source, from.manifest);
      return { rows: diagnostics.length > 0 ? 'unknown' : shapeOfParts(source), diagnostics };
    }
    default: {
      const never: never = source;
      throw new Error(`internal error: rows from ${JSON.stringify(never)}`);
    }
  }
}

/** What `{{vars.name}}` stands for, and where it is written. `unknown`: it is wrong, which has been reported. */
export type VarValue =
  | { is: 'value'; value: Json; path: Path }
  | { is: 'wrong'; diagnostic: Diagnostic }
  | { is: 'unknown' };

export function readVar(text: string, from: { manifest: Manifest; vars: JsonMap; path: Path }): VarValue {
  if (!isWholeVar(text)) return { is: 'unknown' };
  const written = text.replaceAll(/[{}\s]/g, '');
  const [, ...parts] = written.split('.');
  let value: Json | undefined = from.vars;
  for (const part of parts) {
    const inner = ownValue(value, part);
    if (inner === unknownValue) return { is: 'unknown' };
    if (inner === undefined) {
      const start = text.indexOf('vars');
      const known = isMap(value) ? Object.keys(value) : [];
      const diagnostic: Diagnostic = {
        code: 'MB1203',
        severity: 'error',
        message: `\`${written}\` is not known`,
        hint: suggestName(part, known, { what: value === from.vars ? 'vars' : 'it has' }),
        place: from.manifest.places.within(from.path, { text, start, end: start + written.length }),
      };
      return { is: 'wrong', diagnostic };
    }
    value = inner;
  }
  return { is: 'value', value, path: ['vars', ...parts] };
}

function rowsOfVar(text: string, from: { manifest: Manifest; vars: JsonMap; path: Path }): Found {
  const found = readVar(text, from);
  if (found.is !== 'value') return { rows: 'unknown', diagnostics: found.is === 'wrong' ? [found.diagnostic] : [] };
  const placeOf = (index: number) => from.manifest.places.value([...found.path, index]);
  const label = `\`${found.path.join('.')}\``;
  const { rows, diagnostics } = rowsFromList(found.value, { label, placeOf, code: 'MB1103' });
  return { rows: rows ?? 'unknown', diagnostics };
}

function rowsOfFile(
  name: string,
  from: { manifest: Manifest; data: ReadonlyMap<string, DataFile>; path: Path },
): Found {
  const { manifest, data, path } = from;
  const place = manifest.places.value(path);
  const fail = (code: 'MB1103' | 'MB1301' | 'MB1303', message: string, hint: string): Found => ({
    rows: 'unknown',
    diagnostics: [{ code, severity: 'error', message, hint, place }],
  });
  if (extensionOf(name) === undefined) {
    const hint = 'name a .csv, .json, .jsonl, .yaml or .yml file, or write an inline list: [en, de]';
    return fail('MB1103', `\`${shorten(name)}\` is not the path of a data file`, hint);
  }
  const file = data.get(name);
  if (file === undefined) throw new Error(`internal error: the data file ${name} was not read`);
  if ('problem' in file) return explainProblem(name, file, fail);
  if (!('text' in file)) throw new Error(`internal error: the data file ${name} was listed, not read`);
  const { rows, diagnostics } = readRows({ path: name, file: besideManifest(manifest.file, name), text: file.text });
  return { rows: rows ?? 'unknown', diagnostics };
}

function rowsOfPattern(
  pattern: string,
  from: { manifest: Manifest; data: ReadonlyMap<string, DataFile>; path: Path; folder: string },
): Found {
  const place = () => from.manifest.places.value(from.path);
  const found = from.data.get(pattern);
  if (found === undefined) throw new Error(`internal error: the files ${pattern} were not listed`);
  if ('files' in found) {
    // A name that is no text arrives as one with this character in it: no prompt can hold it, and nobody can open it.
    const odd = found.files.find((file) => /\ufffd|\p{Surrogate}/u.test(file));
    if (odd === undefined) {
      return { rows: rowsOfFiles(pattern, { files: found.files, folder: from.folder, place }), diagnostics: [] };
    }
    const shown = shorten(odd.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
    const message = `${shorten(pattern)} matches a file whose name is not UTF-8 text: ${shown}`;
    const diagnostic: Diagnostic = { code: 'MB1301', severity: 'error', message, hint: 'rename it', place: place() };
    return { rows: 'unknown', diagnostics: [diagnostic] };
  }
  const detail = 'problem' in found && found.detail !== undefined ? ` (${shorten(found.detail, 120)})` : '';
  const message = `the files ${shorten(pattern)} cannot be listed${detail}`;
  const hint = 'write a pattern of paths below the folder of the manifest, as in photos/*.jpg';
  const diagnostic: Diagnostic = { code: 'MB1301', severity: 'error', message, hint, place: place() };
  return { rows: 'unknown', diagnostics: [diagnostic] };
}

function nothingMatches(task: Task, { places }: Manifest): Diagnostic {
  const pattern = task.rows.from === 'files' ? task.rows.pattern : '';
  return {
    code: 'MB1408',
    severity: 'error',
    message: `task \`${task.id}\` makes no steps: no file matches ${shorten(pattern)}`,
    hint: 'patterns are looked up beside the file that they are written in; `*` stays in one folder, `**` goes into all; hidden files are left out',
    place: places.value(taskPath(task.id, 'foreach')),
  };
}

function explainProblem(
  name: string,
  file: Extract<DataFile, { problem: string }>,
  fail: (code: 'MB1301' | 'MB1303', message: string, hint: string) => Found,
): Found {
  const detail = file.detail === undefined ? '' : ` (${shorten(file.detail, 120)})`;
  switch (file.problem) {
    case 'missing':
      return fail(
        'MB1301',
        `${name} does not exist${detail}`,
        'data files are looked up beside the manifest; check the name and its upper and lower case',
      );
    case 'outside':
      return fail(
        'MB1303',
        `${name} is outside the folder of the manifest${detail}`,
        'move the file below the folder of the manifest and name it by a relative path',
      );
    case 'not-a-file':
      return fail('MB1301', `${name} is not a regular file${detail}`, 'name a file, not a folder or a device');
    case 'too-large':
      return fail('MB1301', `${name} is too large${detail}`, 'split it into several files, one per task');
    case 'unreadable':
      return fail('MB1301', `${name} cannot be read${detail}`, 'check its permissions and that it is a UTF-8 text');
    default: {
      const never: never = file.problem;
      throw new Error(`internal error: a data file with the problem ${String(never)}`);
    }
  }
}
