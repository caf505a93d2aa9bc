import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { orForgotten } from './kept-json.ts';
import { makeOwnSecret, readOwnSecret } from './own-secret.ts';
import { noFollow } from './plain-file.ts';
import { replaceFile } from './replace.ts';
import { sealOf } from './sealed-file.ts';
import { isRealFolder, prepareStateFolder } from './state-folder.ts';

const fileName = 'saved-files';
const sealLength = 32;
/** Of a million files. */
const mostBytes = 256 * 1024 ** 2;
/** Lines that say the same are taken out beyond this. */
const longBytes = 16 * 1024 ** 2;

/** `SEAL SHA-256 PATH`: each line stands for itself, and one that was not written here counts as absent. */
const lineForm = /^([0-9a-f]{32}) ([0-9a-f]{64}) ([^\n]+)$/gm;

/**
 * Which files runs of this person on this machine have saved, by path and digest. Whoever writes a lock line can name any
 * file of the tree, with its true digest: only what is known here is deleted, moved or replaced. Without it a file stays,
 * and is copied. Lost, it is lost: then everything stays.
 */
export class SavedFiles {
  readonly #state: string | undefined;
  readonly #prefix: string;
  readonly #known = new Set<string>();
  #isRead = false;
  #isPrepared = false;

  /** `state`: the folder of what is never committed; absent: known for the time of this process. `root`: of outputs. */
  constructor(state?: string, root?: string) {
    this.#state = state;
    const way = state === undefined || root === undefined ? '' : relative(dirname(state), root).split(sep).join('/');
    this.#prefix = way === '' ? '' : `${way}/`;
  }

  /** Whether a file with these bytes (SHA-256, hex) was saved under this name. Writes nothing. */
  has(path: string, sha256: string): boolean {
    this.#read();
    return this.#known.has(this.#entry(path, sha256));
  }

  async note(path: string, sha256: string): Promise<void> {
    const entry = this.#entry(path, sha256);
    if (this.has(path, sha256)) return;
    this.#known.add(entry);
    const state = this.#state;
    if (state === undefined) return;
    await orForgotten(async () => {
      const secret = await makeOwnSecret();
      if (secret === undefined) return;
      if (!this.#isPrepared) {
        await prepareStateFolder(state);
        await shorten(state);
        this.#isPrepared = true;
      }
      append(join(state, fileName), lineOf(secret, entry));
    });
  }

  #entry(path: string, sha256: string): string {
    return `${sha256} ${this.#prefix}${path}`;
  }

  #read(): void {
    const secret = this.#isRead || this.#state === undefined ? undefined : readOwnSecret();
    this.#isRead = true;
    if (secret === undefined || this.#state === undefined) return;
    for (const [, seal, sha256, path] of readText(this.#state).matchAll(lineForm)) {
      const entry = `${sha256} ${path}`;
      if (sealOf(secret, fileName, entry).startsWith(seal ?? ' ')) this.#known.add(entry);
    }
  }
}

/** Takes out what is there twice. */
async function shorten(state: string): Promise<void> {
  const text = readText(state);
  if (text.length < longBytes) return;
  const lines = new Set([...text.matchAll(lineForm)].map(([line]) => line));
  await replaceFile(join(state, fileName), `${[...lines].join('\n')}\n`);
}

function lineOf(secret: Buffer, entry: string): string {
  return `${sealOf(secret, fileName, entry).slice(0, sealLength)} ${entry}\n`;
}

/** Empty when there is nothing that can be read. */
function readText(state: string): string {
  let fd: number | undefined;
  try {
    if (!isRealFolder(state)) return '';
    fd = openSync(join(state, fileName), constants.O_RDONLY | noFollow);
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= mostBytes ? readFileSync(fd, 'utf8') : '';
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function append(path: string, line: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | noFollow, 0o600);
  try {
    if (fstatSync(fd).isFile()) writeSync(fd, line);
  } finally {
    closeSync(fd);
  }
}
