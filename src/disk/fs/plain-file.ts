import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { UnsafeFileError } from '../../contract/errors.ts';
import { foldPath } from '../../graph/fold-path.ts';

/** Flags for open(2): it does not follow a link at the end of the path, and does not wait for the writer of a pipe. */
export const noFollow = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Returns the stats of a plain file, or `undefined` if the path does not exist. Throws `UnsafeFileError` for a link,
 * folder or device.
 */
export function statPlainFile(path: string): Stats | undefined {
  const stats = lstatOrAbsent(path);
  if (stats === undefined || stats.isFile()) return stats;
  throw new UnsafeFileError(path, nameOf(stats));
}

export function lstatOrAbsent(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/**
 * Opens a plain file with the flags of open(2). Returns `undefined` if the path does not exist. Throws
 * `UnsafeFileError` for a link, folder or device.
 */
export async function openPlainFile(path: string, flags: number): Promise<FileHandle | undefined> {
  if (statPlainFile(path) === undefined) return undefined;
  const handle = await orAbsent(open(path, flags | noFollow));
  if (handle === undefined) return undefined;
  const stats = fstatSync(handle.fd);
  if (stats.isFile()) return handle;
  await handle.close();
  throw new UnsafeFileError(path, nameOf(stats));
}

/**
 * Reads a plain file. Returns `undefined` if the path does not exist or the file is larger than `mostBytes`. Throws
 * `UnsafeFileError` for a link, folder or device. Reads synchronously, because passing the read of a small file to
 * another thread takes ten times as long.
 */
export function readPlainFile(path: string, mostBytes = Number.POSITIVE_INFINITY): Buffer | undefined {
  if (statPlainFile(path) === undefined) return undefined;
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | noFollow);
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new UnsafeFileError(path, nameOf(stats));
    return stats.size > mostBytes ? undefined : readFileSync(fd);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * Reads a file and follows symbolic links. Returns `undefined` if the path is missing, unreadable, not a file, or
 * larger than `mostBytes`.
 */
export function readSmallFile(path: string, mostBytes: number): Buffer | undefined {
  return readNamed(path, (fd, size) => (size <= mostBytes ? readFileSync(fd) : undefined));
}

export function readStart(path: string, mostBytes: number): string | undefined {
  return readFirstBytes(path, mostBytes)?.toString('utf8');
}

/**
 * Returns the first bytes of a file, or bytes from an offset. Follows symbolic links. Returns `undefined` if the path
 * is missing, unreadable or not a file.
 */
export function readFirstBytes(path: string, mostBytes: number, from = 0): Buffer | undefined {
  return readNamed(path, (fd) => {
    const bytes = Buffer.alloc(mostBytes);
    return bytes.subarray(0, readSync(fd, bytes, 0, mostBytes, from));
  });
}

function readNamed(path: string, read: (fd: number, size: number) => Buffer | undefined): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(fd);
    return stats.isFile() ? read(fd, stats.size) : undefined;
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

/** Returns whether two paths are equal. On macOS and Windows, ignores case and the Unicode form of accents. */
export function isSameName(path: string | undefined, other: string, platform: string = process.platform): boolean {
  if (path === other) return true;
  if (path === undefined || (platform !== 'win32' && platform !== 'darwin')) return false;
  return foldPath(path) === foldPath(other);
}

/**
 * Returns whether an error of link(2) means that the file system allows no hard link at this path. Union file systems
 * report EXDEV, systems that forbid links report EACCES, and exFAT on Windows reports EISDIR.
 */
export function hasNoLinks(error: unknown): boolean {
  return isErrno(error, 'EPERM', 'EACCES', 'EXDEV', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR');
}

function nameOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isDirectory()) return 'a folder';
  return 'a device or a pipe';
}
