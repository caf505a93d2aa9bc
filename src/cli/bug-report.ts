import { homedir, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ownVersion } from '../campaign/own-version.ts';
import { messageOf } from '../ground/values.ts';

/** Root folder of this package, without a trailing slash. */
const ownFolder = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/**
 * Lines of a bug report about an internal error: version, machine, the command without its values, and the stack. Paths
 * are relative to the working folder, this package or home; quoted strings, which may be data of the user, are omitted.
 */
export function bugReport(error: unknown, typed: readonly string[]): string[] {
  const text = error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error);
  const [command = '', ...words] = typed;
  const options = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*$/s, ''));
  return [
    `mediabatch ${ownVersion()}, Node ${process.version}, ${process.platform} ${process.arch}`,
    `command: ${[/^[a-z-]+$/.test(command) ? command : '…', ...options].join(' ')}`,
    ...withoutPrivate(text).split('\n'),
  ];
}

function withoutPrivate(text: string): string {
  const places: [folder: string, name: string][] = [
    [ownFolder, '<package>'],
    [process.cwd(), '<cwd>'],
    [tmpdir(), '<tmp>'],
    [homedir(), '<home>'],
  ];
  let shown = text;
  for (const [folder, name] of places) if (folder.length > 1) shown = shown.replaceAll(folder, name);
  return shown
    .replaceAll(/(["'`“])(?:(?!["'`”\n]).){8,}["'`”]/g, '$1…$1')
    .replaceAll(/(^|[\s(])(?:file:\/\/)?(?:\/|[A-Z]:\\)[^\s():]+/gm, '$1<path>');
}
