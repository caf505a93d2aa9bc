import type { Diagnostic, Place } from '../diagnostic.ts';
import { kinds } from '../kinds/index.ts';
import { checkShape } from './check-shape.ts';
import { limitDiagnostics } from './collect.ts';
import { type Manifest, taskPath } from './manifest.ts';
import { mapOf, readTask } from './read-manifest.ts';
import { manifestFaults, readYaml } from './read-yaml.ts';
import { maxManifestBytes } from './size-limit.ts';
import { placeBetween, readSource } from './source.ts';
import { checkKinds, checkTemplatePlaces, findCutTexts } from './text-rules.ts';
import { emptyMap, isMap, type JsonMap, unknownValue } from './values.ts';

export type { DataFile } from './rows.ts';

/**
 * Reads a manifest and checks its shape: YAML, keys, types, kinds. All mistakes are found at once; at most 100 are told.
 * There is a manifest unless the text has no shape at all; one with errors is not `sound` and only good for finding
 * the mistakes of the next stage too.
 */
export function parseManifest(source: { file: string; text: string }): {
  manifest?: Manifest;
  diagnostics: Diagnostic[];
} {
  const read = readSource(source.file, source.text);
  if (new TextEncoder().encode(source.text).length > maxManifestBytes) {
    const message = `${source.file} is larger than ${maxManifestBytes / 1024 / 1024} MiB`;
    const hint = 'move long lists into data files and read them with `foreach:`';
    return { diagnostics: [{ code: 'MB1007', severity: 'error', message, hint, place: placeBetween(read, 0, 0) }] };
  }
  const { value, places, diagnostics: found } = readYaml(read, manifestFaults);
  if (value === undefined || places === undefined) return { diagnostics: limitDiagnostics(found) };
  if (!isMap(value) || value === unknownValue) {
    const shape = value === unknownValue ? [] : checkShape(value, places);
    return { diagnostics: limitDiagnostics([...found, ...shape]) };
  }
  const diagnostics = limitDiagnostics([
    ...found,
    ...checkShape(value, places),
    ...checkKinds(value, places),
    ...checkTemplatePlaces(value, places),
    ...findCutTexts(value, places),
  ]);
  const defaults = Object.create(null) as { [kind: string]: JsonMap };
  for (const [kind, fields] of Object.entries(mapOf(value.defaults))) {
    if (kinds[kind] !== undefined) defaults[kind] = mapOf(fields);
  }
  const { description } = value;
  const budget = mapOf(value.budget).credits;
  const { concurrency } = mapOf(value.service);
  const manifest: Manifest = {
    file: source.file,
    name: typeof value.name === 'string' ? value.name : '',
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof budget === 'number' ? { budget } : {}),
    ...(typeof concurrency === 'number' ? { concurrency } : {}),
    vars: isMap(value.vars) ? value.vars : emptyMap(),
    defaults,
    tasks: Object.entries(mapOf(value.tasks)).map(([id, task]) => readTask(id, task, defaults)),
    places,
    sound: !diagnostics.some((diagnostic) => diagnostic.severity === 'error'),
    warnings: diagnostics.filter((diagnostic) => diagnostic.severity === 'warning'),
  };
  return { manifest, diagnostics };
}

/** The data files that a manifest asks for: unique, as written, and where each is asked for first. */
export function dataFiles(manifest: Manifest): { path: string; place: Place }[] {
  const files = new Map<string, Place>();
  for (const task of manifest.tasks) {
    if (task.rows.from !== 'file' || files.has(task.rows.path)) continue;
    files.set(task.rows.path, manifest.places.value(taskPath(task.id, 'foreach')));
  }
  return [...files].map(([path, place]) => ({ path, place }));
}
