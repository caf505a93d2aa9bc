import type { Diagnostic } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { emptyMap, type JsonMap, mapOf, type Path, shorten } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { isAbsolutePath } from './file-path.ts';
import { type Manifest, type Task, taskPath } from './manifest.ts';
import type { ManifestFile } from './read-included.ts';
import { readTask } from './read-manifest.ts';
import type { Places } from './yaml/places.ts';

/** The combined content of a campaign's files. */
export type Merged = Pick<Manifest, 'vars' | 'defaults' | 'selectors' | 'prices' | 'tasks' | 'places'>;

/**
 * Joins the files of a campaign: for vars, default fields, selectors and prices the last one wins, and a task may be in
 * one file only. Places lead into the file that wins.
 */
export function mergeFiles(files: readonly ManifestFile[]): Merged & { diagnostics: Diagnostic[] } {
  const owners = new Map<string, ManifestFile>();
  const vars = mergeSection(files, 'vars', owners);
  const selectors = mergeSection(files, 'selectors', owners);
  const prices = mergeSection(files, 'prices', owners);
  const defaults = mergeDefaults(files, owners);
  const { written, diagnostics } = collectTasks(files, owners);
  const main = files.at(-1);
  if (main === undefined) throw new Error('internal error: a campaign without a manifest');
  const tasks = written.map(({ id, value, file: { folder } }): Task => {
    const defaultsOf = (kind: string) => defaultsFor(kind, { fields: defaults[kind] ?? emptyMap(), folder, owners });
    return readTask(id, value, { folder, defaultsOf });
  });
  return {
    vars,
    defaults,
    selectors: only(selectors, (value) => typeof value === 'string'),
    prices: only(prices, (value) => typeof value === 'number'),
    tasks,
    places: files.length === 1 ? main.places : joinPlaces(main.places, owners),
    diagnostics,
  };
}

/** Keeps values of the right type; the others were reported. */
function only<Wanted extends Json>(
  map: JsonMap,
  isRight: (value: Json) => value is Wanted,
): { [name: string]: Wanted } {
  const right = Object.create(null) as { [name: string]: Wanted };
  for (const [name, value] of Object.entries(map)) if (isRight(value)) right[name] = value;
  return right;
}

function mergeSection(
  files: readonly ManifestFile[],
  section: 'vars' | 'selectors' | 'prices',
  owners: Map<string, ManifestFile>,
): JsonMap {
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

/** Rewrites a path in `defaults`, which is relative to its own file, for a task of another folder. */
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
        message: `the task \`${shorten(id)}\` stands in two files, first in ${first.file.file} on line ${place.start.line}`,
        hint: 'rename one of the two: the tasks of all included files have one list of names',
        place: file.places.key(taskPath(id)),
        related: [{ message: 'the first one', place }],
      });
    }
  }
  return { written: [...written.values()], diagnostics };
}

/** Joins the places of several files: each path leads into the file whose value counts. */
function joinPlaces(main: Places, owners: ReadonlyMap<string, ManifestFile>): Places {
  const placesOf = (path: Path): Places => {
    const owner = owners.get(idOf(path.slice(0, 3))) ?? owners.get(idOf(path.slice(0, 2)));
    return owner?.places ?? main;
  };
  return {
    value: (path) => placesOf(path).value(path),
    key: (path) => placesOf(path).key(path),
    within: (path, part) => placesOf(path).within(path, part),
  };
}

function idOf(path: Path): string {
  return JSON.stringify(path);
}
