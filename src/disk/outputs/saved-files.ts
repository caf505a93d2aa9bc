import { dirname, join, relative, sep } from 'node:path';
import { readPlainFile } from '../fs/plain-file.ts';
import { orForgotten } from '../state/caches.ts';
import { findOwn, makeOwn, sealOf } from '../state/sealed-file.ts';
import { SharedLines } from '../state/shared-lines.ts';
import { isRealFolder, prepareStateFolder } from '../state/state-folder.ts';

const fileName = 'saved-files';
const sealLength = 32;
/** Maximum size of the record in bytes, enough for a million files. */
const mostBytes = 256 * 1024 ** 2;

/**
 * Record of the files that this user's runs on this machine have saved, by path and digest. Because a lock line could
 * name any file of the working tree, with its true digest, only files recorded here are deleted, moved or replaced. All
 * others stay and are copied. If the record is lost, no file is removed.
 */
export class SavedFiles {
  readonly #state: string | undefined;
  readonly #prefix: string;
  /** Entries of this object, if there is no file. */
  readonly #saved = new Set<string>();
  /** Lines of the file, read when they are first asked for: a large run saves as many files as it has steps. */
  #lines: Set<string> | undefined;
  /** Open until the process ends, because opening takes longer than writing a line. */
  #file: Promise<{ file: SharedLines; secret: Buffer } | undefined> | undefined;

  /** `state`: the folder that is never committed; without it, the record is only in memory. `root`: output folder. */
  constructor(state?: string, root?: string) {
    this.#state = state;
    const way = state === undefined || root === undefined ? '' : relative(dirname(state), root).split(sep).join('/');
    this.#prefix = way === '' ? '' : `${way}/`;
  }

  /** Returns whether a file with these bytes (SHA-256, hex) was saved under this name. Writes nothing. */
  has(path: string, sha256: string): boolean {
    const entry = this.#entry(path, sha256);
    if (this.#state === undefined) return this.#saved.has(entry);
    const { secret } = findOwn() ?? {};
    if (secret === undefined) return false;
    this.#lines ??= new Set(readText(this.#state).split('\n'));
    return this.#lines.has(lineOf(secret, entry));
  }

  async note(path: string, sha256: string): Promise<void> {
    const entry = this.#entry(path, sha256);
    const state = this.#state;
    if (state === undefined) {
      this.#saved.add(entry);
      return;
    }
    await orForgotten(async () => {
      this.#file ??= openRecord(state);
      const { file, secret } = (await this.#file) ?? {};
      if (file === undefined || secret === undefined) return;
      const line = lineOf(secret, entry);
      await file.append(line);
      this.#lines?.add(line);
    });
  }

  #entry(path: string, sha256: string): string {
    return `${sha256} ${this.#prefix}${path}`;
  }
}

/** Line `SEAL SHA-256 PATH`: each line has its own seal, and a line without a valid seal of this user is ignored. */
function lineOf(secret: Buffer, entry: string): string {
  return `${sealOf(secret, fileName, entry).slice(0, sealLength)} ${entry}`;
}

/** Returns an empty text if the record is missing or unreadable. */
function readText(state: string): string {
  try {
    return (isRealFolder(state) && readPlainFile(join(state, fileName), mostBytes)?.toString('utf8')) || '';
  } catch {
    return '';
  }
}

async function openRecord(state: string): Promise<{ file: SharedLines; secret: Buffer } | undefined> {
  const { secret } = (await makeOwn()) ?? {};
  if (secret === undefined) return undefined;
  await prepareStateFolder(state);
  return { file: new SharedLines(join(state, fileName)), secret };
}
