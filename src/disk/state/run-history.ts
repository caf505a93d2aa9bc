import { constants } from 'node:fs';
import { type FileHandle, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { Json } from '../../ground/json.ts';
import { isErrno, lstatOrAbsent, openPlainFile, orAbsent } from '../fs/plain-file.ts';
import { hasRealFolders } from './state-folder.ts';

/** How much history is kept. */
export interface HistoryLimits {
  runs: number;
  bytes: number;
}

const historyLimits: HistoryLimits = { runs: 100, bytes: 64 * 1024 ** 2 };

/** `2026-11-22-0435-k3f9`: when the run began, UTC, and four characters without those that look alike. */
const runName = /^(\d{4}-\d{2}-\d{2}-\d{4}-[0-9a-hjkmnp-tv-z]{4})\.jsonl$/;
/** The first line is short, and so is the last one. */
const endBytes = 1 << 16;
const letters = '0123456789abcdefghjkmnpqrstvwxyz';

/** `now`: ms since 1970. `random`: in [0, 1), called once for each character. */
export function makeRunId(now: number, random: () => number): string {
  const [day, time] = new Date(now).toISOString().split('T');
  const end = Array.from({ length: 4 }, () => letters[Math.floor(random() * letters.length)]);
  return `${day}-${time?.slice(0, 5).replace(':', '')}-${end.join('')}`;
}

/**
 * Files that tell what earlier runs did, in a folder of the state folder. Nothing relies on them: whatever a branch or a
 * broken disk puts there is read as far as it can be, and only shown.
 */
export class RunHistory {
  readonly #state: string;
  readonly #folder: string;

  constructor(state: string, folder: string) {
    this.#state = state;
    this.#folder = folder;
  }

  /** Ids with the size of their files, newest first. Empty when there is no history, or none that can be read. */
  async list(): Promise<{ id: string; bytes: number }[]> {
    try {
      if (!hasRealFolders(this.#state, this.#folder)) return [];
      const names = await readdir(join(this.#state, this.#folder));
      const runs = names
        .sort()
        .reverse()
        .flatMap((name) => {
          const [, id] = runName.exec(name) ?? [];
          const stats = id === undefined ? undefined : lstatOrAbsent(this.#pathOf(id));
          return id === undefined || stats?.isFile() !== true ? [] : [{ id, bytes: stats.size }];
        });
      return runs;
    } catch (error) {
      return orNothing(error, []);
    }
  }

  /** Values of the lines of a run, without those that are no JSON. Undefined when it cannot be read. */
  async read(id: string): Promise<Json[] | undefined> {
    return this.#readParts(id, (size) => [[0, Math.min(size, 2 * historyLimits.bytes)]]);
  }

  /** The same for the first and the last lines only. */
  async readEnds(id: string): Promise<Json[] | undefined> {
    return this.#readParts(id, (size) =>
      size <= 2 * endBytes
        ? [[0, size]]
        : [
            [0, endBytes],
            [size - endBytes, endBytes],
          ],
    );
  }

  /** A run as it is written, to be closed by the caller. Undefined when it cannot be read. */
  async follow(id: string): Promise<RunTail | undefined> {
    try {
      const handle = await this.#open(id);
      return handle === undefined ? undefined : new RunTail(handle);
    } catch (error) {
      return orNothing(error, undefined);
    }
  }

  /** Removes the oldest files until there is room for one more run. Errors of the disk do not matter. */
  async prune({ runs, bytes }: HistoryLimits = historyLimits): Promise<void> {
    let count = 1;
    let size = 0;
    for (const run of await this.list()) {
      count += 1;
      size += run.bytes;
      if (count <= runs && size <= bytes) continue;
      await orAbsent(unlink(this.#pathOf(run.id))).catch((error) => orNothing(error, undefined));
    }
  }

  async #readParts(
    id: string,
    partsOf: (size: number) => [start: number, length: number][],
  ): Promise<Json[] | undefined> {
    try {
      const handle = await this.#open(id);
      if (handle === undefined) return undefined;
      try {
        const { size } = await handle.stat();
        const values: Json[] = [];
        for (const [start, length] of partsOf(size)) {
          const buffer = Buffer.alloc(length);
          const { bytesRead } = await handle.read(buffer, 0, length, start);
          for (const value of valuesOfLines(buffer.toString('utf8', 0, bytesRead))) values.push(value);
        }
        return values;
      } finally {
        await handle.close();
      }
    } catch (error) {
      return orNothing(error, undefined);
    }
  }

  async #open(id: string): Promise<FileHandle | undefined> {
    if (!runName.test(`${id}.jsonl`) || !hasRealFolders(this.#state, this.#folder)) return undefined;
    return openPlainFile(this.#pathOf(id), constants.O_RDONLY);
  }

  #pathOf(id: string): string {
    return join(this.#state, this.#folder, `${id}.jsonl`);
  }
}

function orNothing<T>(error: unknown, nothing: T): T {
  if (error instanceof UnsafeFileError) return nothing;
  if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EIO', 'ELOOP', 'EROFS', 'EISDIR', 'EBUSY'))
    return nothing;
  throw error;
}

const pieceBytes = 1 << 18;
/** A line that is longer is nothing that a run has written. */
const mostLineBytes = 1 << 22;

/** Reads a file of lines while it grows. */
export class RunTail {
  readonly #handle: FileHandle;
  #position = 0;
  /** The beginning of a line whose end is not written yet. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Values of the lines since the last call, without those that are no JSON; at most a quarter of a MiB of them. */
  async more(): Promise<Json[]> {
    const buffer = Buffer.alloc(pieceBytes);
    const { bytesRead } = await this.#handle.read(buffer, 0, pieceBytes, this.#position);
    if (bytesRead === 0) return [];
    this.#position += bytesRead;
    const bytes = Buffer.concat([this.#rest, buffer.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#rest = bytes.length - end > mostLineBytes ? Buffer.alloc(0) : bytes.subarray(end);
    return valuesOfLines(bytes.toString('utf8', 0, end));
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Half a line, or one that somebody else has written, is left out. */
function valuesOfLines(text: string): Json[] {
  const values: Json[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('{')) continue;
    try {
      values.push(JSON.parse(line) as Json);
    } catch {
      // Left out.
    }
  }
  return values;
}
