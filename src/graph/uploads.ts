import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import { shorten } from '../ground/values.ts';
import { isAbsolutePath, normalizePath, pathFrom } from '../manifest/file-path.ts';
import type { FileFact } from './graph.ts';

export const uploadTask = 'upload';

export type FileAnswer = FileFact | { problem: string; hint?: string };

interface At {
  folder: string;
  place: Place;
}

export class Uploads {
  readonly unread = new Map<string, Place>();
  readonly #facts: ReadonlyMap<string, FileAnswer>;
  readonly #made = new Map<string, { path: string; place: Place }>();

  constructor(facts: ReadonlyMap<string, FileAnswer>) {
    this.#facts = facts;
  }

  /** Sorted, so that the order of the templates does not matter. */
  get made(): { address: string; path: string; place: Place }[] {
    return [...this.#made]
      .map(([address, one]) => ({ address, ...one }))
      .sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  make(written: string, at: At): { address: string } | { diagnostic: Diagnostic } {
    const path = readPath(written, at);
    if (typeof path !== 'string') return path;
    const address = `${uploadTask}@${encodePath(path)}`;
    if (!this.#made.has(address)) this.#made.set(address, { path, place: at.place });
    return { address };
  }

  /** Returns the digest and size of a file. `file` is undefined if it is not read yet; `unread` then contains it. */
  read(written: string, at: At): { file: (FileFact & { path: string }) | undefined } | { diagnostic: Diagnostic } {
    const path = readPath(written, at);
    if (typeof path !== 'string') return path;
    const fact = this.#facts.get(path);
    if (fact === undefined) {
      if (!this.unread.has(path)) this.unread.set(path, at.place);
      return { file: undefined };
    }
    if (!('problem' in fact)) return { file: { path, sha256: fact.sha256, bytes: fact.bytes } };
    const message = `${shorten(path)} cannot be uploaded: ${fact.problem}`;
    const hint = fact.hint ?? 'files are relative to the manifest that contains them; check the name and its case';
    return { diagnostic: { code: 'MB1301', severity: 'error', message, hint, place: at.place } };
  }
}

/** Rewrites a path to be relative to the main manifest's folder. Refuses a path out of that folder. */
export function readPath(written: string, { folder, place }: At): string | { diagnostic: Diagnostic } {
  const path = normalizePath(pathFrom(folder, written));
  const isOutside = path === '' || path.startsWith('..') || isAbsolutePath(written) || written.includes('\\');
  if (!isOutside) return path;
  const message = `"${shorten(written)}" is not the path of a file below the folder of the manifest`;
  const hint = 'move the file below the folder of the manifest, and name it by a relative path with /';
  return { diagnostic: { code: 'MB1301', severity: 'error', message, hint, place } };
}

/** Encodes a path as a row key. Different paths have different keys. */
function encodePath(path: string): string {
  return path
    .replaceAll(/[%:\s,@\\*?\p{C}]/gu, (character) =>
      encodeURIComponent(character).replace(character, `%${character.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .replaceAll('/', ':');
}
