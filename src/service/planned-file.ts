import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ServiceError } from '../contract/errors.ts';
import { describeError } from './http.ts';

export interface FileToUpload {
  /** Absolute path. */
  path: string;
  fileName: string;
  contentType?: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

const chunkBytes = 256 * 1024;

/** Throws `ServiceError` if the content differs from the planned file. */
export async function readPlannedFile(file: FileToUpload): Promise<Uint8Array> {
  const handle = await openPlannedFile(file);
  try {
    const bytes = await handle.readFile();
    checkDigest(file, createHash('sha256').update(bytes).digest('hex'), bytes.length);
    return bytes;
  } catch (error) {
    throw asFileError(file, error);
  } finally {
    await handle.close();
  }
}

/** Opens the file, but never through a symbolic link, even if it replaced the file after planning. */
export async function openPlannedFile(file: FileToUpload): Promise<FileHandle> {
  const handle = await openPlain(file);
  const { size } = await handle.stat();
  if (size === file.bytes) return handle;
  await handle.close();
  throw changed(file);
}

async function openPlain(file: FileToUpload): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(file.path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw asFileError(file, error);
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new ServiceError('refused', `${file.fileName} is not a plain file`);
}

/**
 * Streams and hashes the file. The last piece is released only if the whole file matches the plan, so that a changed
 * file is never uploaded completely. Throws `ServiceError`.
 */
export async function* streamPlannedFile(handle: FileHandle, file: FileToUpload): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: chunkBytes })) {
      const piece = chunk as Uint8Array;
      bytes += piece.length;
      hash.update(piece);
      if (bytes > file.bytes) throw changed(file);
      if (bytes === file.bytes) checkDigest(file, hash.copy().digest('hex'), bytes);
      yield piece;
    }
  } catch (error) {
    throw asFileError(file, error);
  }
  if (bytes !== file.bytes) throw changed(file);
}

function checkDigest(file: FileToUpload, sha256: string, bytes: number): void {
  if (sha256 !== file.sha256 || bytes !== file.bytes) throw changed(file);
}

function changed({ fileName }: FileToUpload): ServiceError {
  return new ServiceError('refused', `${fileName} is not the file that was planned: it has changed since; plan again`);
}

function asFileError({ fileName }: FileToUpload, error: unknown): ServiceError {
  return error instanceof ServiceError
    ? error
    : new ServiceError('refused', `${fileName} cannot be read: ${describeError(error)}`);
}
