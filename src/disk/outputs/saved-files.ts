import { dirname, join, relative, sep } from 'node:path';
import { readPlainFile } from '../fs/plain-file.ts';
import { orForgotten } from '../state/caches.ts';
import { findOwn, makeOwn, sealOf } from '../state/sealed-file.ts';
import { SharedLines } from '../state/shared-lines.ts';
import { isRealFolder, prepareStateFolder } from '../state/state-folder.ts';

const fileName = 'saved-files';
const sealLength = 32;
/** Maximum size of the record in bytes: lines of about a million files. */
const mostBytes = 256 * 1024 ** 2;

/**
 * Record of the files that this user's runs have saved on this machine, by path and digest. Only files in this record
 * are deleted, moved or replaced, because a lock line can contain any path of the working tree.
 */
export class SavedFiles {
  readonly #state: string | undefined;
  readonly #prefix: string;
  readonly #saved = new Set<string>();
  #lines: Set<string> | undefined;
  /** The file stays open until the process ends, because opening it takes longer than writing a line. */
  #file: Promise<{ file: SharedLines; secret: Buffer } | undefined> | undefined;

  /** `state`: folder `.mediabatch`. If omitted, the record is only in memory. `root`: output folder. */
  constructor(state?: string, root?: string) {
    this.#state = state;
    const way = state === undefined || root === undefined ? '' : relative(dirname(state), root).split(sep).join('/');
    this.#prefix = way === '' ? '' : `${way}/`;
  }

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

function lineOf(secret: Buffer, entry: string): string {
  return `${sealOf(secret, fileName, entry).slice(0, sealLength)} ${entry}`;
}

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
