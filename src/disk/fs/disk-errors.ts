import { OutputError, UnsafeFileError } from '../../contract/errors.ts';

const ways: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room and run again',
  EDQUOT: 'the disk quota is used up: make room and run again',
  EROFS: 'the file system is read-only: make it writable, or save somewhere else',
  EACCES: 'this user may not write there: change the permissions, or save somewhere else',
  EPERM: 'this user may not write there: change the permissions, or save somewhere else',
  EIO: 'the disk reports a read or write error: check it before running again',
  EMFILE: 'too many files are open: lower the concurrency, or raise the limit of open files',
  ENFILE: 'too many files are open on this machine: end other programs, or raise the limit',
  EFBIG: 'the file is too large for this file system or for the limit of this user',
};

/** Turns a system error about a file into an `OutputError`: `path` if the name is the cause, else `disk`. */
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
    return new OutputError('path', `${path} cannot be a file's name here (${code})`, { cause: error });
  }
  return new OutputError('disk', `cannot write ${path}: ${ways[code] ?? error.message}`, { cause: error });
}
