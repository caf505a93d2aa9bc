import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import { shorten } from '../../ground/values.ts';
import { slug } from '../../manifest/template/helpers.ts';
import type { Draft } from '../expand/draft.ts';

const maxSegmentBytes = 200;
/** Windows allows 260 in total, including the folder of the campaign, an extension and a temporary name. */
const maxPathBytes = 240;
const encoder = new TextEncoder();

/** Device names of Windows, reserved with any extension. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$/i;

/** Returns the default output path, without the take, for example `output/hero-a1-9-16`. */
export function defaultSave(draft: Draft): string {
  const names = [...(draft.key === undefined ? [] : [draft.key]), ...Object.values(draft.matrix)];
  return `output/${[draft.task.id, ...names.map(slug)].join('-')}`;
}

/** Explains why a path, in NFC and without extension, cannot be an output on some operating system. */
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

/** Returns the extension of a media file at the end of a path, if the user wrote one. */
export function writtenExtension(path: string): string | undefined {
  return /\.(png|jpe?g|webp|gif|avif|mp3|wav|flac|ogg|m4a|mp4|webm|mov)$/i.exec(path)?.[0];
}

/** Normalizes case and Unicode form, so that paths that are the same file on some system become equal. */
export function foldPath(path: string): string {
  if (/^[\x20-\x7e]*$/.test(path)) return path.toLowerCase();
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
