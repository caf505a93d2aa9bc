import type { Stats } from 'node:fs';
import { extname, join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import { isErrno, statPlainFile } from '../fs/plain-file.ts';
import { findOutputFolder } from './output-path.ts';
import { knownExtensions } from './sniff.ts';

/** A plain file at the path of an output. */
export interface PlacedFile {
  path: string;
  stats: Stats;
}

/**
 * Looks at many outputs where they should be, without reading them: a line of the lock can name any file, so only plain
 * media files count, and none that a link leads to. Folders are resolved once: an object is good for one look.
 */
export class PlacedFiles {
  readonly #root: string;
  readonly #folders = new Map<string, string | undefined>();

  constructor(root: string) {
    this.#root = root;
  }

  /** `damaged`: something else has its name, or another size. */
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
