import type { Diagnostic, DiagnosticCode } from '../../ground/diagnostic.ts';
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

const maxSegmentBytes = 200;
/** Windows allows 260 in total, including the folder of the campaign, an extension and a temporary name. */
const maxPathBytes = 240;
const encoder = new TextEncoder();

/** Device names of Windows, reserved with any extension. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$/i;

export function defaultSave(draft: Draft): string {
  const names = [...(draft.key === undefined ? [] : [draft.key]), ...Object.values(draft.matrix)];
  return `output/${[draft.task.id, ...names.map(slug)].join('-')}`;
}

export function checkSavePath(path: string): { code: DiagnosticCode; message: string; hint: string } | undefined {
  const escapes = (message: string, hint: string) => ({ code: 'MB1601', message, hint }) as const;
  const notPortable = (message: string, hint: string) => ({ code: 'MB1602', message, hint }) as const;
  // Computed only for messages, because there are many paths, and few are wrong.
  const shown = () => `"${shorten(path)}"`;
  if (path === '') return notPortable('the output path is empty', 'write a path, as in images/{{key}}');
  if (path.includes('\\')) {
    return notPortable(`the output path ${shown()} has a backslash in it`, 'separate folders with /');
  }
  if (/^[A-Za-z]:/.test(path)) {
    return escapes(`the output path ${shown()} names a drive`, 'write a path relative to the folder of the manifest');
  }
  if (path.startsWith('/')) {
    return escapes(`the output path ${shown()} is absolute`, 'write a path relative to the folder of the manifest');
  }
  if (path.startsWith('~')) {
    return escapes(
      `the output path ${shown()} starts in a home folder`,
      'write a path relative to the folder of the manifest',
    );
  }
  const segments = path.split('/');
  if (segments.includes('..')) {
    return escapes(
      `the output path ${shown()} leaves the folder of the manifest`,
      'remove the `..`: outputs stay below the manifest',
    );
  }
  for (const segment of segments) {
    const problem = checkSegment(segment);
    if (problem !== undefined) return notPortable(`the output path ${shown()} ${problem.what}`, problem.hint);
  }
  const bytes = encoder.encode(path).length;
  if (bytes <= maxPathBytes) return undefined;
  return notPortable(
    `the output path ${shown()} has ${bytes} bytes; at most ${maxPathBytes} are allowed`,
    'use fewer folders, or {{truncate … 60}}',
  );
}

function checkSegment(segment: string): { what: string; hint: string } | undefined {
  const shown = () => `\`${shorten(segment)}\``;
  if (segment === '')
    return {
      what: 'has an empty part',
      hint: 'remove the double or trailing /; if a template in the path is empty, give it a value',
    };
  if (segment === '.') return { what: 'has the part `.`', hint: 'remove it' };
  if (segment.startsWith('.'))
    return { what: `has the hidden part ${shown()}`, hint: 'start the name with another character' };
  if (segment.toLowerCase() === 'node_modules') {
    return { what: 'leads into node_modules, which belongs to npm', hint: 'choose another folder' };
  }
  const odd = /[<>:"|?*~]|\p{C}/u.exec(segment)?.[0];
  if (odd !== undefined) {
    const visible = /\p{C}/u.test(odd)
      ? `U+${(odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
      : odd;
    return {
      what: `has the character ${visible} in ${shown()}`,
      hint: 'use {{slug …}} for values that may hold such characters',
    };
  }
  if (/[. ]$/.test(segment))
    return { what: `has the part ${shown()}, which ends in a dot or a space`, hint: 'Windows drops both: remove them' };
  if (segment.startsWith(' '))
    return { what: `has the part ${shown()}, which starts with a space`, hint: 'remove the space' };
  const stem = segment.split('.')[0] ?? '';
  if (reserved.test(stem.trimEnd())) {
    return {
      what: `has the part ${shown()}, which Windows reserves for a device`,
      hint: `use another name, as in ${stem}-1`,
    };
  }
  const bytes = encoder.encode(segment).length;
  if (bytes > maxSegmentBytes) {
    return {
      what: `has a part of ${bytes} bytes; at most ${maxSegmentBytes} are allowed`,
      hint: 'use {{truncate … 60}}',
    };
  }
  return undefined;
}

export function writtenExtension(path: string): string | undefined {
  return /\.(png|jpe?g|webp|gif|avif|mp3|wav|flac|ogg|m4a|mp4|webm|mov)$/i.exec(path)?.[0];
}
