import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { UnsafeFileError } from '../../contract/errors.ts';
import { foldPath } from '../../graph/render/save-path.ts';

/** Follows no link in the last part of a path, waits for no other end of a pipe. 0 where a flag does not exist. */
export const noFollow = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** `undefined`: no such file. Throws `UnsafeFileError` for anything but a plain file. */
export function statPlainFile(path: string): Stats | undefined {
  const stats = lstatOrAbsent(path);
  if (stats === undefined || stats.isFile()) return stats;
  throw new UnsafeFileError(path, nameOf(stats));
}

/** `lstat`; undefined when nothing exists. Synchronous: a call takes microseconds, and outputs number thousands. */
export function lstatOrAbsent(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Opens an existing plain file; undefined when there is none. `flags` are those of open(2). */
export async function openPlainFile(path: string, flags: number): Promise<FileHandle | undefined> {
  if (statPlainFile(path) === undefined) return undefined;
  const handle = await orAbsent(open(path, flags | noFollow));
  if (handle === undefined) return undefined;
  const stats = fstatSync(handle.fd);
  if (stats.isFile()) return handle;
  await handle.close();
  throw new UnsafeFileError(path, nameOf(stats));
}

/** Opens for reading a file that `statPlainFile` has just seen; undefined when it is gone by now. Synchronous, too. */
export function openSeenFile(path: string): { fd: number; size: number } | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | noFollow);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, size: stats.size };
  closeSync(fd);
  throw new UnsafeFileError(path, nameOf(stats));
}

/**
 * Reads a file that a person, or a link of theirs, names; undefined when it is absent, unreadable or larger, and for
 * anything but a file: a pipe would block forever.
 */
export function readSmallFile(path: string, mostBytes: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= mostBytes ? readFileSync(fd) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The text with which such a file begins, of at most so many bytes; undefined as above, but for its size. */
export function readStart(path: string, mostBytes: number): string | undefined {
  return readFirstBytes(path, mostBytes)?.toString('utf8');
}

/** The same as bytes. */
export function readFirstBytes(path: string, mostBytes: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!fstatSync(fd).isFile()) return undefined;
    const bytes = Buffer.alloc(mostBytes);
    return bytes.subarray(0, readSync(fd, bytes, 0, mostBytes, 0));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export async function orAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/**
 * True for two ways to write one path: where capitals and the form of accents make no difference, a folder has the name
 * under which it was made, and may be asked for by another.
 */
export function isSameName(path: string | undefined, other: string, platform: string = process.platform): boolean {
  if (path === other) return true;
  if (path === undefined || (platform !== 'win32' && platform !== 'darwin')) return false;
  return foldPath(path) === foldPath(other);
}

/**
 * The file system has no hard links, or this file has as many as it can have. Layers of several disks say EXDEV, systems
 * that allow nobody a link EACCES, exFAT on Windows EISDIR.
 */
export function hasNoLinks(error: unknown): boolean {
  return isErrno(error, 'EPERM', 'EACCES', 'EXDEV', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR');
}

function nameOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isDirectory()) return 'a folder';
  return 'a device or a pipe';
}
