import { unlink } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import { defined } from '../../ground/values.ts';
import type { Output } from '../../lock/record.ts';
import { linkOrCopy, renameFile, syncFolder } from '../fs/durable.ts';
import { listFolder } from '../fs/folders.ts';
import { isErrno, lstatOrAbsent } from '../fs/plain-file.ts';
import { temporaryName } from '../fs/replace.ts';
import { hasRealFolders, prepareStateFolder } from '../state/state-folder.ts';
import { hasBytes } from './hash-file.ts';
import { knownExtensions } from './sniff.ts';

/** Entry of the folder of retained files. `partial`: temporary file of a killed process. `other`: any other file. */
interface KeptEntry {
  name: string;
  is: 'kept' | 'partial' | 'other';
  sha256?: string;
  bytes: number;
  /** In ms since 1970. */
  sinceMs: number;
}

const keptName = /^([0-9a-f]{64})\.[a-z0-9]+$/;
const temporary = /^\.mediabatch-[0-9a-f]{16}\.tmp$/;

type WantedFile = Pick<Output, 'path' | 'sha256' | 'bytes'>;

/**
 * Folder of paid files, named `SHA-256.EXTENSION`, that newer files have replaced. It is never committed. Each use of a
 * file checks its digest, because it may be a hard link to a file that a user edits.
 */
export class KeptFiles {
  readonly folder: string;
  readonly #state: string;
  readonly #name: string;

  constructor(state: string, name: string) {
    this.folder = join(state, name);
    this.#state = state;
    this.#name = name;
  }

  /**
   * Links or copies the file at `path` with the digest `digest` into the folder of retained files. Resolves when the
   * file is durable. Rejects with the system's error or `UnsafeFileError`.
   */
  async keep(path: string, digest: { sha256: string; bytes: number }): Promise<void> {
    const kept = this.#pathOf({ path, ...digest });
    if (kept === undefined) return;
    await prepareStateFolder(this.#state, this.#name);
    if (await hasBytes(kept, digest)) return;
    const unnamed = join(this.folder, temporaryName('tmp'));
    try {
      await linkOrCopy(path, unnamed);
      // Replaces a damaged retained file or a link. Two runs may retain the same bytes at once.
      await renameFile(unnamed, kept);
    } finally {
      await unlink(unnamed).catch(() => undefined);
    }
    await syncFolder(this.folder);
  }

  async find(output: WantedFile): Promise<string | undefined> {
    const path = this.glance(output);
    return path !== undefined && (await hasBytes(path, output)) ? path : undefined;
  }

  /** Returns the path of a retained file with the output's digest. Checks only the name and size. */
  glance(output: WantedFile): string | undefined {
    const path = this.#pathOf(output);
    if (path === undefined || !this.exists()) return undefined;
    const stats = lstatOrAbsent(path);
    return stats?.isFile() === true && stats.size === output.bytes ? path : undefined;
  }

  async list(): Promise<KeptEntry[]> {
    const entries = this.exists() ? await listFolder(this.folder) : [];
    return entries.flatMap(({ name }): KeptEntry[] => {
      const stats = lstatOrAbsent(join(this.folder, name));
      if (stats === undefined) return [];
      const [, sha256] = stats.isFile() ? (keptName.exec(name) ?? []) : [];
      const isPartial = stats.isFile() && temporary.test(name);
      const is = sha256 !== undefined ? 'kept' : isPartial ? 'partial' : 'other';
      // ctime is the time when the file was retained; mtime is the time when its content was bought.
      return [{ name, is, bytes: stats.size, sinceMs: stats.ctimeMs, ...defined({ sha256 }) }];
    });
  }

  exists(): boolean {
    try {
      return hasRealFolders(this.#state, this.#name);
    } catch (error) {
      if (error instanceof UnsafeFileError || isErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP')) return false;
      throw error;
    }
  }

  #pathOf({ path, sha256 }: WantedFile): string | undefined {
    const extension = extname(path);
    if (!knownExtensions.includes(extension) || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
    return join(this.folder, `${sha256}${extension}`);
  }
}
