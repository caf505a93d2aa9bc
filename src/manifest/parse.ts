/*
 * Text → manifest, or diagnostics with positions. Also templates and tables.
 * Takes: the text of a manifest, and of the files that it names.
 * Returns: a typed manifest, or all its mistakes at once.
 * Independent of: disk, network, clock, the lock. No input may block the process or exhaust its memory.
 */

import { type Diagnostic, hasErrors, type Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import {
  emptyMap,
  isMap,
  isScalar,
  type JsonMap,
  mapOf,
  ownValue,
  type Path,
  shorten,
  unknownValue,
} from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { isAbsolutePath, pathFrom, patternFrom } from './file-path.ts';
import { limitDiagnostics, type Manifest, type Task, tablePath, taskPath } from './manifest.ts';
import { type ManifestFile, readManifestFiles } from './read-included.ts';
import { readTask } from './read-manifest.ts';
import { readTable } from './rows/read-row-source.ts';
import { extensionOf } from './rows/read-rows.ts';
import type { DataFile } from './rows/rows.ts';
import { suggestName } from './suggest.ts';
import { isTemplate } from './template/template.ts';
import type { FilePlaces, Places } from './yaml/places.ts';

interface IncludedFile {
  path: string;
  place: Place;
}

/**
 * Reads a manifest and checks its shape. Reports all mistakes at once, at most 100. Returns no manifest if a file is
 * not a map. A manifest with errors is not `sound`: the next stage uses it only to find more errors.
 *
 * `includes`: included files that `included` lacks. If a file is missing, no manifest is returned: the caller reads the
 * missing files and calls this function again. `program`: version of this program, for the key `requires`.
 */
export function parseManifest(
  source: { file: string; text: string },
  included: ReadonlyMap<string, DataFile> = new Map(),
  program?: string,
): {
  manifest?: Manifest;
  diagnostics: Diagnostic[];
  includes: IncludedFile[];
} {
  const { files, diagnostics: found, unread, incomplete } = readManifestFiles(source, included, program);
  const main = files.at(-1);
  // While an included file is missing, names that the file defines would be reported as unknown.
  if (main === undefined || incomplete || unread.length > 0) {
    return { diagnostics: limitDiagnostics(found), includes: unread };
  }
  const { diagnostics: doubled, ...merged } = mergeFiles(files, main);
  const diagnostics = limitDiagnostics([...found, ...doubled, ...findNoTasks(merged.tasks, main.value, main.places)]);
  const { name, description } = main.value;
  const budget = mapOf(main.value.budget).credits;
  const { concurrency } = mapOf(main.value.service);
  const { index } = mapOf(main.value.outputs);
  const manifest: Manifest = {
    file: source.file,
    name: typeof name === 'string' ? name : '',
    ...(typeof description === 'string' && { description }),
    ...(typeof budget === 'number' && { budget }),
    ...(typeof concurrency === 'number' && { concurrency }),
    ...(typeof index === 'string' && { index }),
    ...merged,
    sound: !hasErrors(diagnostics),
    warnings: diagnostics.filter((diagnostic) => diagnostic.severity === 'warning'),
  };
  return { manifest, diagnostics, includes: [] };
}

function findNoTasks(tasks: readonly Task[], value: Manifest['vars'], places: Manifest['places']): Diagnostic[] {
  if (tasks.length > 0 || value.tasks !== undefined || !Array.isArray(value.include)) return [];
  const message = 'the manifest has no `tasks`, and neither has any file that it includes';
  const hint = 'add `tasks:` – it must be a map with at least one task';
  return [{ code: 'MB1102', severity: 'error', message, hint, place: places.key(['include']) }];
}

/** A file, or all files that match a pattern. `path` is relative to the main manifest's folder. */
interface NeededFile {
  path: string;
  place: Place;
  /** `text`: a data file or a row schema. `workbook`: the sheets in `sheets` (`undefined`: the only sheet). */
  as: 'text' | 'workbook' | 'files';
  sheets: (string | undefined)[];
}

export function dataFiles(manifest: Manifest): NeededFile[] {
  const files = new Map<string, NeededFile>();
  const add = (path: string, as: NeededFile['as'], at: Path): NeededFile => {
    const id = `${as} ${path}`;
    const file = files.get(id) ?? { path, place: manifest.places.value(at), as, sheets: [] };
    files.set(id, file);
    return file;
  };
  const addData = (path: string, sheet: string | undefined, at: Path) => {
    add(path, extensionOf(path) === 'xlsx' ? 'workbook' : 'text', at).sheets.push(sheet);
  };
  for (const { name, file, sheet, schema } of manifest.tables) {
    if (file !== undefined) addData(file, sheet, tablePath(name, 'file'));
    if (schema !== undefined) add(schema, 'text', tablePath(name, 'schema'));
  }
  for (const { id, rows, schema, folder } of manifest.tasks) {
    if (rows.from === 'file') addData(pathFrom(folder, rows.path), rows.sheet, taskPath(id, 'foreach'));
    if (rows.from === 'files') add(patternFrom(folder, rows.pattern), 'files', taskPath(id, 'foreach'));
    if (schema !== undefined && rows.from === 'file') add(pathFrom(folder, schema), 'text', taskPath(id, 'schema'));
  }
  return [...files.values()];
}

type Merged = Pick<Manifest, 'vars' | 'tables' | 'defaults' | 'selectors' | 'prices' | 'rights' | 'tasks' | 'places'>;

/**
 * Merges the files of a campaign. Values of later files replace values of earlier files. Two tasks with the same name
 * are a mistake. The place of a merged value is in the file from which the value comes.
 */
function mergeFiles(files: readonly ManifestFile[], main: ManifestFile): Merged & { diagnostics: Diagnostic[] } {
  const owners = new Map<string, ManifestFile>();
  const merge = (section: string) => mergeSection(files, section, owners);
  const tables = merge('tables');
  const rows = merge('rows');
  const defaults = mergeDefaults(files, owners);
  const { written, diagnostics } = collectTasks(files, owners);
  const moved = new Map<string, Path>();
  const folderOf = (name: string) => owners.get(idOf(['rows', name]))?.folder ?? '';
  const tasks = written.map(({ id, value, file }): Task => {
    const { folder } = file;
    const shared = shareRows(id, { value, file }, { rows, folderOf });
    diagnostics.push(...shared.diagnostics);
    for (const { from, to } of shared.moved) moved.set(idOf(from), to);
    const defaultsOf = (kind: string) => defaultsFor(kind, { fields: defaults[kind] ?? emptyMap(), folder, owners });
    return readTask(id, shared.value, { folder, defaultsOf });
  });
  return {
    vars: merge('vars'),
    tables: Object.entries(tables).map(([name, value]) =>
      readTable(name, value, owners.get(idOf(tablePath(name)))?.folder ?? ''),
    ),
    defaults,
    selectors: only(merge('selectors'), (value) => typeof value === 'string'),
    prices: only(merge('prices'), (value) => typeof value === 'number'),
    rights: only(merge('rights'), isScalar),
    tasks,
    places: files.length === 1 && moved.size === 0 ? main.places : joinPlaces(main.places, { owners, moved }),
    diagnostics,
  };
}

function only<Wanted extends Json>(
  map: JsonMap,
  isRight: (value: Json) => value is Wanted,
): { [name: string]: Wanted } {
  const right = Object.create(null) as { [name: string]: Wanted };
  for (const [name, value] of Object.entries(map)) if (isRight(value)) right[name] = value;
  return right;
}

function mergeSection(files: readonly ManifestFile[], section: string, owners: Map<string, ManifestFile>): JsonMap {
  const merged = emptyMap();
  for (const file of files) {
    for (const [name, value] of Object.entries(mapOf(file.value[section]))) {
      merged[name] = value;
      owners.set(idOf([section, name]), file);
    }
  }
  return merged;
}

function mergeDefaults(files: readonly ManifestFile[], owners: Map<string, ManifestFile>): { [kind: string]: JsonMap } {
  const merged = Object.create(null) as { [kind: string]: JsonMap };
  for (const file of files) {
    for (const [kind, fields] of Object.entries(mapOf(file.value.defaults))) {
      if (kinds[kind] === undefined) continue;
      const all = merged[kind] ?? emptyMap();
      merged[kind] = all;
      owners.set(idOf(['defaults', kind]), file);
      for (const [field, value] of Object.entries(mapOf(fields))) {
        all[field] = value;
        owners.set(idOf(['defaults', kind, field]), file);
      }
    }
  }
  return merged;
}

function defaultsFor(
  kind: string,
  from: { fields: JsonMap; folder: string; owners: ReadonlyMap<string, ManifestFile> },
): JsonMap {
  const seen = emptyMap();
  for (const [field, value] of Object.entries(from.fields)) {
    const folder = from.owners.get(idOf(['defaults', kind, field]))?.folder ?? '';
    const isPath = kinds[kind]?.fields[field]?.type === 'file' && typeof value === 'string' && !isAbsolutePath(value);
    const up = '../'.repeat(from.folder.split('/').length - 1);
    seen[field] = isPath && folder !== from.folder ? `${up}${folder}${value}` : value;
  }
  return seen;
}

interface WrittenTask {
  id: string;
  value: Json;
  file: ManifestFile;
}

function collectTasks(
  files: readonly ManifestFile[],
  owners: Map<string, ManifestFile>,
): { written: WrittenTask[]; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const written = new Map<string, WrittenTask>();
  for (const file of files) {
    for (const [id, value] of Object.entries(mapOf(file.value.tasks))) {
      const first = written.get(id);
      if (first === undefined) {
        written.set(id, { id, value, file });
        owners.set(idOf(taskPath(id)), file);
        continue;
      }
      const place = first.file.places.key(taskPath(id));
      diagnostics.push({
        code: 'MB1004',
        severity: 'error',
        message: `the task \`${shorten(id)}\` is in two files, first in ${first.file.file} on line ${place.start.line}`,
        hint: 'rename one of the two: task names must be unique across all included files',
        place: file.places.key(taskPath(id)),
        related: [{ message: 'the first one', place }],
      });
    }
  }
  return { written: [...written.values()], diagnostics };
}

function joinPlaces(
  main: Places,
  { owners, moved }: { owners: ReadonlyMap<string, ManifestFile>; moved: ReadonlyMap<string, Path> },
): Places {
  const at = <Found>(asked: Path, place: (places: Places, path: Path) => Found): Found => {
    const to = moved.get(idOf(asked.slice(0, 3)));
    const path = to === undefined ? asked : [...to, ...asked.slice(3)];
    const owner = owners.get(idOf(path.slice(0, 3))) ?? owners.get(idOf(path.slice(0, 2)));
    return place(owner?.places ?? main, path);
  };
  return {
    value: (path) => at(path, (places, own) => places.value(own)),
    key: (path) => at(path, (places, own) => places.key(own)),
    within: (path, part) => at(path, (places, own) => places.within(own, part)),
  };
}

function idOf(path: Path): string {
  return JSON.stringify(path);
}

const takenOver = { foreach: 'foreach', maxItems: 'maxItems', schema: 'schema', key: 'key', when: 'rowsWhen' } as const;

interface SharedTask {
  value: Json;
  moved: { from: Path; to: Path }[];
  diagnostics: Diagnostic[];
}

/**
 * Copies the keys of shared rows to a task. `moved`: pairs of the path in the task and the path in the shared rows.
 * `folderOf`: returns the folder of the file that contains the rows.
 */
function shareRows(
  id: string,
  task: { value: Json; file: { folder: string; places: FilePlaces } },
  { rows, folderOf }: { rows: JsonMap; folderOf: (name: string) => string },
): SharedTask {
  const { value, file } = task;
  const name = ownValue(value, 'rows');
  if (!isMap(value) || typeof name !== 'string') return { value, moved: [], diagnostics: [] };
  const shared = ownValue(rows, name);
  const merged = Object.assign(emptyMap(), value);
  if (shared === undefined || !isMap(shared)) {
    Object.assign(merged, { foreach: unknownValue, key: unknownValue });
    const place = file.places.value(taskPath(id, 'rows'));
    const message = `task \`${id}\` refers to unknown rows \`${shorten(name)}\``;
    const known = Object.keys(rows);
    const hint = known.length === 0 ? 'declare them under `rows:`' : suggestName(name, known, { what: 'rows' });
    const unknown: Diagnostic = { code: 'MB1103', severity: 'error', message, hint, place };
    return { value: merged, moved: [], diagnostics: shared === undefined && !isTemplate(name) ? [unknown] : [] };
  }
  // Errors in inline rows are reported at the place where the manifest defines the shared rows.
  merged.foreach = unknownValue;
  const moved: SharedTask['moved'] = [];
  for (const [key, own] of Object.entries(takenOver)) {
    const item = ownValue(shared, key);
    if (item === undefined) continue;
    merged[own] = ['foreach', 'schema'].includes(key) ? seenFrom(file.folder, folderOf(name), item) : item;
    moved.push({ from: taskPath(id, own), to: ['rows', name, key] });
  }
  return { value: merged, moved, diagnostics: [] };
}

function seenFrom(folder: string, own: string, value: Json): Json {
  if (folder === own) return value;
  if (isMap(value) && typeof value.file === 'string') return { ...value, file: seenFrom(folder, own, value.file) };
  if (typeof value !== 'string' || value.includes('{{') || isAbsolutePath(value)) return value;
  return `${'../'.repeat(folder.split('/').length - 1)}${own}${value}`;
}
