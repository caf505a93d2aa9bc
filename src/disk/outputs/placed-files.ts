import { closeSync, readSync, type Stats } from 'node:fs';
import { extname, join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import { isErrno, openSeenFile, statPlainFile } from '../fs/plain-file.ts';
import { findOutputFolder } from './output-path.ts';
import { knownExtensions } from './sniff.ts';

interface PlacedFile {
  path: string;
  stats: Stats;
}

/**
 * Finds many outputs at their recorded paths, without reading them. Because a line of the lock can name any file, only
 * plain media files count, and none that a link leads to. Folders are resolved once, so an object is valid only for one
 * pass.
 */
export class PlacedFiles {
  readonly #root: string;
  readonly #folders = new Map<string, string | undefined>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Finds an output. `damaged`: its path is something else, or has another size. */
  look({ path, bytes }: Pick<Output, 'path' | 'bytes'>): PlacedFile | 'missing' | 'damaged' {
    if (!isOutputPath(path) || !knownExtensions.includes(extname(path))) return 'damaged'; // I23
    try {
      const found = this.#find(path);
      if (found === undefined) return 'missing';
      return found.stats.size === bytes ? found : 'damaged';
    } catch (error) {
      if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP')) return 'damaged';
      if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG')) return 'missing';
      throw error;
    }
  }

  #find(path: string): PlacedFile | undefined {
    const end = path.lastIndexOf('/');
    const names = path.slice(0, Math.max(0, end));
    if (!this.#folders.has(names)) {
      this.#folders.set(names, findOutputFolder(this.#root, end < 0 ? [] : names.split('/')));
    }
    const folder = this.#folders.get(names);
    if (folder === undefined) return undefined;
    const full = join(folder, path.slice(end + 1));
    const stats = statPlainFile(full);
    return stats && { path: full, stats };
  }
}

/** Reads `length` bytes at an offset of a file; fewer at its end. */
export type ReadAt = (at: number, length: number) => Buffer;

/** Bytes that contain most media headers, and that fit Node's buffer pool without an allocation. */
const headLength = 2048;

/** Reads pieces of an output. Opened at the first read; the beginning is read only once. Must be closed. */
export class PlacedReader {
  readonly #placed: PlacedFiles;
  readonly #output: Pick<Output, 'path' | 'bytes'>;
  #file: { fd: number; head: Buffer } | 'unread' | 'unreadable' = 'unread';

  constructor(placed: PlacedFiles, output: Pick<Output, 'path' | 'bytes'>) {
    this.#placed = placed;
    this.#output = output;
  }

  /** Calls `look` with a reader; `undefined` if the file is not there as it was saved, or cannot be read now. */
  read<Found>(look: (readAt: ReadAt) => Found): Found | undefined {
    try {
      if (this.#file === 'unread') this.#file = this.#open() ?? 'unreadable';
      if (this.#file === 'unreadable') return undefined;
      const { fd, head } = this.#file;
      return look((at, length) => {
        const isWhole = head.length < headLength;
        return isWhole || at + length <= head.length ? head.subarray(at, at + length) : readPiece(fd, at, length);
      });
    } catch (error) {
      if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO')) return undefined;
      throw error;
    }
  }

  close(): void {
    if (typeof this.#file === 'object') closeSync(this.#file.fd);
    this.#file = 'unreadable';
  }

  #open(): { fd: number; head: Buffer } | undefined {
    const found = this.#placed.look(this.#output);
    const fd = typeof found === 'string' ? undefined : openSeenFile(found.path)?.fd;
    if (fd === undefined) return undefined;
    try {
      return { fd, head: readPiece(fd, 0, headLength) };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }
}

function readPiece(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
}
