import { type Diagnostic, hasErrors, type Place } from '../ground/diagnostic.ts';
import { mapOf } from '../ground/values.ts';
import { limitDiagnostics } from './collect.ts';
import { pathFrom, patternFrom } from './file-path.ts';
import { type Manifest, type Task, taskPath } from './manifest.ts';
import { mergeFiles } from './merge-files.ts';
import { readManifestFiles } from './read-included.ts';
import type { DataFile } from './rows/rows.ts';

export type { DataFile } from './rows/rows.ts';

/** An included file, by its path from the main manifest's folder, and where it is included. */
export interface IncludedFile {
  path: string;
  place: Place;
}

/**
 * Reads a manifest and checks its shape: YAML, keys, types, kinds. All mistakes are found at once; at most 100 are
 * reported. There is a manifest unless a text has no shape at all; one with errors is not `sound` and only serves to
 * find the mistakes of the next stage too.
 *
 * A pure stage reads no files: `includes` are those whose text is not in `included` yet, by the same paths. The caller
 * reads them (an answer may also say why one cannot be read) and calls again until there are none; until then there is
 * no manifest, and the mistakes are those of the known files.
 */
export function parseManifest(
  source: { file: string; text: string },
  included: ReadonlyMap<string, DataFile> = new Map(),
): {
  manifest?: Manifest;
  diagnostics: Diagnostic[];
  includes: IncludedFile[];
} {
  const { files, diagnostics: found, unread, incomplete } = readManifestFiles(source, included);
  const main = files.at(-1);
  // With a part of the campaign missing, every name defined in it would be reported as unknown.
  if (main === undefined || incomplete || unread.length > 0) {
    return { diagnostics: limitDiagnostics(found), includes: unread };
  }
  const { diagnostics: doubled, ...merged } = mergeFiles(files);
  const diagnostics = limitDiagnostics([...found, ...doubled, ...findNoTasks(merged.tasks, main.value, main.places)]);
  const { name, description } = main.value;
  const budget = mapOf(main.value.budget).credits;
  const { concurrency } = mapOf(main.value.service);
  const manifest: Manifest = {
    file: source.file,
    name: typeof name === 'string' ? name : '',
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof budget === 'number' ? { budget } : {}),
    ...(typeof concurrency === 'number' ? { concurrency } : {}),
    ...merged,
    sound: !hasErrors(diagnostics),
    warnings: diagnostics.filter((diagnostic) => diagnostic.severity === 'warning'),
  };
  return { manifest, diagnostics, includes: [] };
}

/** An included manifest may have no tasks, but the campaign must have some. */
function findNoTasks(tasks: readonly Task[], value: Manifest['vars'], places: Manifest['places']): Diagnostic[] {
  if (tasks.length > 0 || value.tasks !== undefined || !Array.isArray(value.include)) return [];
  const message = 'the manifest has no `tasks`, and neither has any file that it includes';
  const hint = 'add `tasks:` – it must be a map with at least one task';
  return [{ code: 'MB1102', severity: 'error', message, hint, place: places.key(['include']) }];
}

/** A file, or the files that match a pattern, by the path from the main manifest's folder. */
export interface NeededFile {
  path: string;
  /** The place that asks for it first. */
  place: Place;
  /** `text`: the content of a data file or of a row schema. `files`: the matches of a pattern. */
  as: 'text' | 'files';
}

/** Lists the files that a manifest asks for, each of them once. */
export function dataFiles(manifest: Manifest): NeededFile[] {
  const files = new Map<string, NeededFile>();
  const add = (path: string, task: Task, { as, key }: { as: NeededFile['as']; key: 'foreach' | 'schema' }) => {
    const id = `${as} ${path}`;
    if (!files.has(id)) files.set(id, { path, place: manifest.places.value(taskPath(task.id, key)), as });
  };
  for (const task of manifest.tasks) {
    const { rows, schema, folder } = task;
    if (rows.from === 'file') add(pathFrom(folder, rows.path), task, { as: 'text', key: 'foreach' });
    if (rows.from === 'files') add(patternFrom(folder, rows.pattern), task, { as: 'files', key: 'foreach' });
    if (schema !== undefined && rows.from === 'file') {
      add(pathFrom(folder, schema), task, { as: 'text', key: 'schema' });
    }
  }
  return [...files.values()];
}
