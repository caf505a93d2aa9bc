import type { Diagnostic } from '../../ground/diagnostic.ts';
import { kinds } from '../../kinds/index.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import { dataFiles } from '../../manifest/parse.ts';
import { type Draft, withTrail } from '../expand/draft.ts';
import type { Expansion } from '../expansion.ts';
import { foldPath } from '../render/save-path.ts';

interface Save {
  draft: Draft;
  path: string;
}

/** Finds steps with the same output path, files where another step needs a folder, and paths of input files. */
export function checkSaves(saves: readonly Save[], expansion: Expansion): void {
  const { manifest } = expansion;
  const inputs = inputFiles(manifest);
  const files = new Map<string, Save>();
  const folders = new Map<string, Save>();
  for (const save of saves.flatMap(everyFile)) {
    const folded = foldPath(save.path);
    const parents = parentsOf(folded);
    const own = inputs.get(folded) ?? firstOf(parents, inputs);
    const same = files.get(folded);
    const blocked = same ?? firstOf(parents, files);
    const blocking = blocked ?? folders.get(folded);
    if (own !== undefined || folded.endsWith('.lock.jsonl')) {
      expansion.report(describeOwnFile(save, { what: own ?? 'a lock', manifest }));
    } else if (same !== undefined) {
      expansion.report(describeClash(save, { other: same, manifest, folder: false }));
    } else if (blocking !== undefined) {
      expansion.report(describeClash(save, { other: blocking, manifest, folder: true }));
    }
    if (same === undefined) files.set(folded, save);
    for (const parent of parents) if (!folders.has(parent)) folders.set(parent, save);
  }
}

/** Lists the output paths of all files of a step: if its output is a list, numbered from 1 to the maximum. */
function everyFile(save: Save): Save[] {
  const { kind } = save.draft.task;
  const parts = kind === undefined ? undefined : kinds[kind]?.parts;
  if (parts === undefined) return [save];
  return Array.from({ length: parts.most }, (_, index) => ({ ...save, path: `${save.path}-${index + 1}` }));
}

function describeOwnFile(save: Save, of: { what: string; manifest: Manifest }): Diagnostic {
  return withTrail(
    {
      code: 'MB1604',
      severity: 'error',
      message: `\`${save.draft.address}\` would save over ${of.what}: ${save.path}`,
      hint: 'save to a folder of its own, as in output/…',
      place: placeOfSave(save, of.manifest),
    },
    save.draft,
  );
}

function describeClash(save: Save, of: { other: Save; manifest: Manifest; folder: boolean }): Diagnostic {
  const { other, manifest } = of;
  const both = `\`${other.draft.address}\` and \`${save.draft.address}\``;
  const sameTask = other.draft.task === save.draft.task;
  const difference =
    save.path === other.path ? save.path : `${other.path} and ${save.path}, which are one file on Windows and macOS`;
  const message = of.folder
    ? `${both} cannot both be saved: ${shorter(save, other)} is a file and a folder`
    : `${both} save to the same file: ${difference}`;
  const way = sameTask
    ? 'use what tells its steps apart in `save`, as in {{key}} or {{matrix.…}}'
    : 'give each task another `save`';
  const diagnostic = withTrail(
    { code: 'MB1603', severity: 'error', message, hint: way, place: placeOfSave(save, manifest) },
    save.draft,
  );
  const first = { message: `\`${other.draft.address}\``, place: placeOfSave(other, manifest) };
  return { ...diagnostic, related: [first, ...(diagnostic.related ?? [])] };
}

function shorter(a: Save, b: Save): string {
  return a.path.length < b.path.length ? a.path : b.path;
}

function placeOfSave(save: Save, manifest: Manifest): Diagnostic['place'] & object {
  const { task } = save.draft;
  return task.save === undefined
    ? manifest.places.key(taskPath(task.id))
    : manifest.places.value(taskPath(task.id, 'save'));
}

function inputFiles(manifest: Manifest): Map<string, string> {
  const name = manifest.file.split(/[/\\]/).at(-1) ?? '';
  const inputs = new Map([[foldPath(name), 'the manifest']]);
  for (const { path } of dataFiles(manifest)) {
    const parts = path.split(/[/\\]/).filter((part) => part !== '.' && part !== '');
    inputs.set(foldPath(parts.join('/')), 'a data file');
  }
  return inputs;
}

/** Lists the parent folders of a path, outermost first. */
function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) parents.push(path.slice(0, at));
  return parents;
}

function firstOf<Value>(names: readonly string[], known: ReadonlyMap<string, Value>): Value | undefined {
  for (const name of names) {
    const value = known.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}
