import { constants, type Dirent, type Stats } from 'node:fs';
import { access, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../fs/plain-file.ts';
import { knownExtensions } from './sniff.ts';

export interface BadPlace {
  address: string;
  /** Path relative to the output folder. */
  path: string;
  why: 'symlink' | 'not-a-folder' | 'not-a-file' | 'not-writable' | 'too-long';
}

/** Longest path in bytes: the system's limit without room for an extension and the name of a temporary file. */
const longestPath = (process.platform === 'darwin' ? 1024 : 4096) - 64;

/** Checks destinations before anything is paid for. Reports at most one problem per folder or target. */
export async function findBadPlaces(
  root: string,
  saves: Iterable<{ address: string; save: string }>,
  options: { /** The root is a folder of ours: it must not be a link. */ ownRoot: boolean },
): Promise<BadPlace[]> {
  const folders = new Map<string, Promise<Folder>>();
  const reported = new Set<string>();
  const bad: BadPlace[] = [];
  for (const { address, save } of saves) {
    if (Buffer.byteLength(join(root, save)) > longestPath) return [{ address, path: save, why: 'too-long' }];
    const parts = save.split('/');
    const stem = parts.pop() ?? '';
    const name = parts.join('/');
    const looking = folders.get(name) ?? lookAtFolder(root, parts);
    folders.set(name, looking);
    const folder = await looking;
    if (options.ownRoot && (await statOrAbsent(root))?.isSymbolicLink())
      return [{ address, path: '.', why: 'symlink' }];
    if (folder.problem === undefined) {
      const target = findBadTarget(folder, { stem, save });
      if (target !== undefined) bad.push({ address, ...target });
    } else if (!reported.has(name)) {
      reported.add(name);
      bad.push({ address, ...folder.problem });
    }
  }
  return bad;
}

/** Current content of an output folder; listed once for all of its outputs. */
interface Folder {
  entries: ReadonlyMap<string, Dirent>;
  problem?: Omit<BadPlace, 'address'>;
}

async function lookAtFolder(root: string, parts: readonly string[]): Promise<Folder> {
  const entries = new Map<string, Dirent>();
  let existing = root;
  let path = '';
  for (const name of parts) {
    path = path === '' ? name : `${path}/${name}`;
    const stats = await statOrAbsent(join(root, path));
    if (stats === undefined) break;
    if (stats.isSymbolicLink()) return { entries, problem: { path, why: 'symlink' } };
    if (!stats.isDirectory()) return { entries, problem: { path, why: 'not-a-folder' } };
    existing = join(root, path);
  }
  if ((await statOrAbsent(existing)) === undefined) return { entries };
  try {
    await access(existing, constants.W_OK);
  } catch {
    return { entries, problem: { path: path === '' ? '.' : path, why: 'not-writable' } };
  }
  if (existing === join(root, ...parts)) {
    for (const entry of await readdir(existing, { withFileTypes: true })) entries.set(entry.name, entry);
  }
  return { entries };
}

function findBadTarget(
  { entries }: Folder,
  { stem, save }: { stem: string; save: string },
): Omit<BadPlace, 'address'> | undefined {
  if (entries.size === 0) return undefined;
  for (const extension of knownExtensions) {
    const entry = entries.get(`${stem}${extension}`);
    if (entry?.isSymbolicLink()) return { path: `${save}${extension}`, why: 'symlink' };
    if (entry !== undefined && !entry.isFile()) return { path: `${save}${extension}`, why: 'not-a-file' };
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
