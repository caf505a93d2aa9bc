import { constants, type Dirent, type Stats } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Media } from '../../kinds/kind.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import { listFolder } from '../fs/folders.ts';
import { isErrno, readFirstBytes, statPlainFile } from '../fs/plain-file.ts';
import { knownExtensions, sniffLength, sniffMedia } from './sniff.ts';

export interface BadPlace {
  address: string;
  /** Path relative to the output folder. */
  path: string;
  why: 'symlink' | 'not-a-folder' | 'not-a-file' | 'not-writable' | 'too-long';
}

/** Longest path that the system allows, in bytes, minus room for an extension and the name of a temporary file. */
const longestPath = (process.platform === 'darwin' ? 1024 : 4096) - 64;

/** Checks the save paths of outputs before the run pays. Returns at most one problem per folder or file. */
export async function findBadPlaces(
  root: string,
  saves: Iterable<{ address: string; save: string }>,
  options: { /** If true, the output folder must not be a symbolic link. */ ownRoot: boolean },
): Promise<BadPlace[]> {
  const folders = new Folders(root);
  const reported = new Set<Folder>();
  const bad: BadPlace[] = [];
  for (const { address, save } of saves) {
    if (Buffer.byteLength(join(root, save)) > longestPath) return [{ address, path: save, why: 'too-long' }];
    const folder = await folders.around(save);
    if (options.ownRoot && (await statOrAbsent(root))?.isSymbolicLink())
      return [{ address, path: '.', why: 'symlink' }];
    if (folder.problem === undefined) {
      const target = findBadTarget(folder, save);
      if (target !== undefined) bad.push({ address, ...target });
    } else if (!reported.has(folder)) {
      reported.add(folder);
      bad.push({ address, ...folder.problem });
    }
  }
  return bad;
}

interface ForeignFile {
  address: string;
  path: string;
}

/** Finds files that exist at a step's save path, with any media extension, but were not made by a step. */
export async function findForeignFiles(
  root: string,
  saves: Iterable<{ address: string; save: string }>,
  isOurs: (path: string) => boolean,
): Promise<ForeignFile[]> {
  const strangers: ForeignFile[] = [];
  const folders = new Folders(root);
  for (const { address, save } of saves) {
    if (!isOutputPath(save)) continue;
    const { entries } = await folders.around(save);
    for (const extension of entries.size === 0 ? [] : knownExtensions) {
      const path = `${save}${extension}`;
      if (entries.has(basename(path)) && !isOurs(path)) strangers.push({ address, path });
    }
  }
  return strangers;
}

export function mayBeOutput(root: string, path: string, media: Media): boolean {
  try {
    const file = join(root, path);
    const head = statPlainFile(file) && readFirstBytes(file, sniffLength);
    if (head === undefined) return false;
    // The file is a Git LFS pointer: this clone did not fetch the content.
    if (head.toString('latin1').startsWith('version https://git-lfs.')) return true;
    const sniffed = sniffMedia(head);
    return sniffed?.media === media && sniffed.extension === extname(path);
  } catch {
    return false;
  }
}

interface Folder {
  entries: ReadonlyMap<string, Dirent>;
  problem?: Omit<BadPlace, 'address'>;
}

class Folders {
  readonly #root: string;
  readonly #known = new Map<string, Promise<Folder>>();

  constructor(root: string) {
    this.#root = root;
  }

  around(save: string): Promise<Folder> {
    const name = dirname(save);
    const folder = this.#known.get(name) ?? readFolder(this.#root, name === '.' ? [] : name.split('/'));
    this.#known.set(name, folder);
    return folder;
  }
}

async function readFolder(root: string, parts: readonly string[]): Promise<Folder> {
  let existing = root;
  let path = '';
  for (const name of parts) {
    path = path === '' ? name : `${path}/${name}`;
    const stats = await statOrAbsent(join(root, path));
    if (stats === undefined) break;
    if (stats.isSymbolicLink()) return { entries: new Map(), problem: { path, why: 'symlink' } };
    if (!stats.isDirectory()) return { entries: new Map(), problem: { path, why: 'not-a-folder' } };
    existing = join(root, path);
  }
  const listed = existing === join(root, ...parts) ? await listFolder(existing) : [];
  const entries = new Map(listed.map((entry) => [entry.name, entry]));
  try {
    await access(existing, constants.W_OK);
    return { entries };
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return { entries };
    return { entries, problem: { path: path === '' ? '.' : path, why: 'not-writable' } };
  }
}

function findBadTarget({ entries }: Folder, save: string): Omit<BadPlace, 'address'> | undefined {
  if (entries.size === 0) return undefined;
  for (const extension of knownExtensions) {
    const path = `${save}${extension}`;
    const entry = entries.get(basename(path));
    if (entry?.isSymbolicLink()) return { path, why: 'symlink' };
    if (entry !== undefined && !entry.isFile()) return { path, why: 'not-a-file' };
  }
  return undefined;
}

async function statOrAbsent(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
