import { lstatSync, realpathSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { OutputError, UnsafeFileError } from '../../contract/errors.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import { makeFolders } from '../fs/folders.ts';
import { isErrno, isSameName, lstatOrAbsent } from '../fs/plain-file.ts';

/** Folders whose files git or other tools may execute. */
const toolFolders: readonly string[] = ['.git', '.mediabatch', 'node_modules', '.github', '.ssh'];

/**
 * Splits a path into names. Throws `OutputError` (`path`) if the path is absolute, not in plain form, or in the folder
 * of a tool.
 */
export function checkOutputPath(path: string): string[] {
  if (!isOutputPath(path))
    throw new OutputError('path', `${JSON.stringify(path)} is not a plain path below the output folder`);
  const names = path.split('/');
  const tool = names.find((name) => toolFolders.includes(name.toLowerCase()));
  if (tool !== undefined) throw new OutputError('path', `${path} is in ${tool}, a folder of another tool`);
  return names;
}

/**
 * Makes the folders in an output's path one by one. Refuses symbolic links, which can point out of the output folder.
 * Throws `OutputError` (`path`), or the system's error.
 */
export async function prepareOutputFolder(root: string, path: string): Promise<{ folder: string; target: string }> {
  const names = checkOutputPath(path).slice(0, -1);
  let folder = realPath(root);
  if (folder === undefined) {
    await makeFolders(root);
    folder = realpathSync.native(root);
  }
  for (const name of names) {
    folder = join(folder, name);
    let stats = lstatOrAbsent(folder);
    if (stats === undefined) {
      await makeFolders(folder);
      stats = lstatSync(folder);
    }
    if (stats.isSymbolicLink())
      throw new OutputError('path', `${folder} is a symbolic link; outputs are not saved through links`);
    if (!stats.isDirectory()) throw new OutputError('path', `${folder} exists but is not a folder`);
  }
  return { folder, target: join(folder, basename(path)) };
}

export function isSameFolder(folder: string): boolean {
  return isSameName(realPath(folder), folder);
}

export function findOutputFolder(root: string, names: readonly string[]): string | undefined {
  try {
    const expected = [realpathSync.native(root), ...names].join(sep).replace(`${sep}${sep}`, sep);
    return isSameFolder(expected) ? expected : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')) return undefined;
    throw error;
  }
}

/** Returns the absolute path of an output, or `undefined` if the folder is missing or behind a symbolic link. */
export function findOutputFile(root: string, path: string): string | undefined {
  const names = path.split('/');
  const name = names.pop() ?? '';
  const folder = findOutputFolder(root, names);
  return folder === undefined ? undefined : join(folder, name);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

const ways: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room and run again',
  EDQUOT: 'the disk quota is used up: make room and run again',
  EROFS: 'the file system is read-only: make it writable, or save somewhere else',
  EACCES: 'permission denied: change the permissions, or save somewhere else',
  EPERM: 'permission denied: change the permissions, or save somewhere else',
  EIO: 'the disk reports a read or write error: check it before running again',
  EMFILE: 'too many files are open: lower the concurrency, or raise the limit of open files',
  ENFILE: 'too many files are open on this machine: end other programs, or raise the limit',
  EFBIG: 'the file is too large for this file system or for the limit of this user',
};

/**
 * Runs `work` and converts a system error to an `OutputError`. The kind is `path` if the file name caused the error,
 * else `disk`.
 */
export async function diskErrors<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asOutputError(path, error);
  }
}

function asOutputError(path: string, error: unknown): unknown {
  if (error instanceof UnsafeFileError) return new OutputError('path', error.message, { cause: error });
  if (error instanceof OutputError || !(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  if (code === 'ENAMETOOLONG' || code === 'ELOOP' || code === 'EINVAL' || code === 'ENOTDIR' || code === 'EISDIR') {
    return new OutputError('path', `${path} is not a valid file name on this machine (${code})`, { cause: error });
  }
  return new OutputError('disk', `cannot write ${path}: ${ways[code] ?? error.message}`, { cause: error });
}
