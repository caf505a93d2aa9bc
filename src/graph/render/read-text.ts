import type { Diagnostic, Place } from '../../ground/diagnostic.ts';
import { shorten } from '../../ground/values.ts';
import { explainFileProblem } from '../../manifest/file-problems.ts';
import type { Expansion } from '../expansion.ts';
import { readPath } from '../uploads.ts';

/** Returns the text for `{{read …}}`, without the final line break. `wanted`: the file is still to be read. */
export function readTextFile(
  written: string,
  at: { folder: string; place: Place },
  { facts, unreadTexts }: Pick<Expansion, 'facts' | 'unreadTexts'>,
): { text: string; path: string } | { wanted: string } | { diagnostic: Diagnostic } {
  const path = readPath(written, at);
  if (typeof path !== 'string') return path;
  if (path.endsWith('.lock.jsonl') || path.endsWith('.plan.json')) {
    const message = `${shorten(path)} changes with each run, and no request may depend on it`;
    return {
      diagnostic: { code: 'MB1202', severity: 'error', message, hint: 'read a text that you write', place: at.place },
    };
  }
  const file = facts.texts?.get(path);
  if (file === undefined) {
    unreadTexts.set(path, unreadTexts.get(path) ?? at.place);
    return { wanted: path };
  }
  if ('text' in file) return { text: file.text.replaceAll(/\r\n?/g, '\n').replace(/\n$/, ''), path };
  if (!('problem' in file)) throw new Error(`internal error: ${path} was not read as a text`);
  return { diagnostic: { severity: 'error', ...explainFileProblem(shorten(path), file), place: at.place } };
}
