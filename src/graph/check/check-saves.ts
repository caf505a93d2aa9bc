import type { Diagnostic, DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import { shorten } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import { dataFiles } from '../../manifest/parse.ts';
import { slug } from '../../manifest/template/helpers.ts';
import { type Draft, withTrail } from '../expand/draft.ts';
import type { Expansion } from '../expansion.ts';
import { foldPath } from '../fold-path.ts';

interface Save {
  draft: Draft;
  path: string;
}

export function checkSaves(saves: readonly Save[], expansion: Expansion): void {
  const { manifest } = expansion;
  const inputs = inputFiles(manifest);
  const files = new Map<string, Save>();
  const folders = new Map<string, Save>();
  for (const save of saves.flatMap(everyFile)) {
    const folded = foldPath(save.path);
    const parents = parentsOf(folded);
    const own = folded.endsWith('.lock.jsonl') ? 'a lock' : firstOf([folded, ...parents], inputs);
    const same = files.get(folded);
    const blocking = firstOf(parents, files) ?? folders.get(folded);
    if (own !== undefined) {
      const message = `\`${save.draft.address}\` would save over ${own}: ${save.path}`;
      const words = { message, hint: 'save to a separate folder, as in output/…' };
      report(save, { code: 'MB1604', ...words }, expansion);
    } else if (same !== undefined) {
      reportClash(save, same, { isFolder: false, expansion });
    } else if (blocking !== undefined) {
      reportClash(save, blocking, { isFolder: true, expansion });
    }
    if (same === undefined) files.set(folded, save);
    for (const parent of parents) if (!folders.has(parent)) folders.set(parent, save);
  }
}

function everyFile(save: Save): Save[] {
  const { kind } = save.draft.task;
  const parts = kind === undefined ? undefined : kinds[kind]?.parts;
  if (parts === undefined) return [save];
  return Array.from({ length: parts.most }, (_, index) => ({ ...save, path: `${save.path}-${index + 1}` }));
}

function reportClash(save: Save, other: Save, of: { isFolder: boolean; expansion: Expansion }): void {
  const both = `\`${other.draft.address}\` and \`${save.draft.address}\``;
  const [shorter] = [other.path, save.path].sort((a, b) => a.length - b.length);
  const difference =
    save.path === other.path ? save.path : `${other.path} and ${save.path}, which are one file on Windows and macOS`;
  const message = of.isFolder
    ? `${both} cannot both be saved: ${shorter} would be both a file and a folder`
    : `${both} save to the same file: ${difference}`;
  const hint =
    other.draft.task === save.draft.task
      ? 'use a value in `save` that differs between the steps, as in {{key}} or {{matrix.…}}'
      : 'give each task another `save`';
  const place = placeOfSave(other, of.expansion.manifest);
  const related = [{ message: `\`${other.draft.address}\``, place }];
  report(save, { code: 'MB1603', message, hint, related }, of.expansion);
}

function report(save: Save, words: Omit<Diagnostic, 'severity' | 'place'>, expansion: Expansion): void {
  const place = placeOfSave(save, expansion.manifest);
  expansion.report(withTrail({ ...words, severity: 'error', place }, save.draft));
}

function placeOfSave({ draft: { task } }: Save, { places }: Manifest): Place {
  return task.save === undefined ? places.key(taskPath(task.id)) : places.value(taskPath(task.id, 'save'));
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

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) parents.push(path.slice(0, at));
  return parents;
}

function firstOf<Value>(names: readonly string[], known: ReadonlyMap<string, Value>): Value | undefined {
  const name = names.find((one) => known.has(one));
  return name === undefined ? undefined : known.get(name);
}

export function defaultSave(draft: Draft): string {
  const names = [...(draft.key === undefined ? [] : [draft.key]), ...Object.values(draft.matrix)];
  return `output/${[draft.task.id, ...names.map(slug)].join('-')}`;
}

const maxPartBytes = 200;
/** Windows allows 260 characters for a whole path: campaign folder, output path, extension and a temporary name. */
const maxPathBytes = 240;
const encoder = new TextEncoder();

interface SaveRule {
  breaks: RegExp;
  says: string;
  hint: string;
}

const outside: readonly SaveRule[] = [
  { breaks: /^(?:[A-Z]:|[/~])/i, says: 'is not relative', hint: 'write a path relative to the folder of the manifest' },
  {
    breaks: /(?:^|\/)\.\.(?:\/|$)/,
    says: 'leaves the folder of the manifest',
    hint: 'remove the `..`: outputs stay below the manifest',
  },
];

const emptyPart = 'remove the double or trailing /; if a template in the path is empty, give it a value';

const parts: readonly SaveRule[] = [
  { breaks: /^$/, says: 'is empty', hint: emptyPart },
  { breaks: /^\.$/, says: 'means the folder itself', hint: 'remove it' },
  { breaks: /^\./, says: 'is hidden', hint: 'start the name with another character' },
  { breaks: /^node_modules$/i, says: 'belongs to npm', hint: 'choose another folder' },
  {
    breaks: /[<>:"|?*~\ufffd]|[\p{C}\p{Zl}\p{Zp}]/u,
    says: 'has a character that is not allowed',
    hint: 'use {{slug …}} for values that may hold such characters',
  },
  { breaks: /[.\s]$/, says: 'ends in a dot or a space', hint: 'Windows drops both: remove them' },
  { breaks: /^\s/, says: 'starts with a space', hint: 'remove the space' },
  {
    breaks: /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(?:\.|$)/i,
    says: 'is the name of a device on Windows',
    hint: 'use another name',
  },
];

export function checkSavePath(path: string): { code: DiagnosticCode; message: string; hint: string } | undefined {
  // The message is built only for a wrong path, because few of many output paths are wrong.
  const wrong = (code: DiagnosticCode, says: string, hint: string) => {
    return { code, message: `the output path "${shorten(path)}" ${says}`, hint };
  };
  if (path === '')
    return { code: 'MB1602', message: 'the output path is empty', hint: 'write a path, as in images/{{key}}' };
  if (path.includes('\\')) return wrong('MB1602', 'has a backslash in it', 'separate folders with /');
  const left = outside.find(({ breaks }) => breaks.test(path));
  if (left !== undefined) return wrong('MB1601', left.says, left.hint);
  for (const part of path.split('/')) {
    const broken = parts.find(({ breaks }) => breaks.test(part));
    if (broken !== undefined) {
      const odd = /\p{C}/u.exec(part)?.[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
      const named = odd === undefined ? '' : ` (U+${odd})`;
      return wrong('MB1602', `has the part "${shorten(part)}", which ${broken.says}${named}`, broken.hint);
    }
    const bytes = encoder.encode(part).length;
    const says = `has a part of ${bytes} bytes; at most ${maxPartBytes} are allowed`;
    if (bytes > maxPartBytes) return wrong('MB1602', says, 'use {{truncate … 60}}');
  }
  const bytes = encoder.encode(path).length;
  if (bytes <= maxPathBytes) return undefined;
  const says = `has ${bytes} bytes; at most ${maxPathBytes} are allowed`;
  return wrong('MB1602', says, 'use fewer folders, or {{truncate … 60}}');
}

export function writtenExtension(path: string): string | undefined {
  return /\.(png|jpe?g|webp|gif|avif|mp3|wav|flac|ogg|m4a|mp4|webm|mov)$/i.exec(path)?.[0];
}
