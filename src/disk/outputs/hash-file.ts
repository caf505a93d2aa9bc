import { createHash, hash } from 'node:crypto';
import { constants, fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { UnsafeFileError } from '../../contract/errors.ts';
import { isErrno, lstatOrAbsent, openPlainFile, readPlainFile, statPlainFile } from '../fs/plain-file.ts';

/** Size in bytes up to which reading and hashing a file takes less than a millisecond. */
export const smallBytes = 1 << 17;

export interface Digest {
  sha256: string;
  bytes: number;
}

export function digestOf(bytes: Uint8Array): Digest {
  return { sha256: hash('sha256', bytes), bytes: bytes.length };
}

export async function hashFile(path: string): Promise<Digest | undefined> {
  const stats = statPlainFile(path);
  if (stats === undefined) return undefined;
  if (stats.size <= smallBytes) {
    const bytes = readPlainFile(path);
    return bytes && digestOf(bytes);
  }
  const handle = await openPlainFile(path, constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    return await hashHandle(handle);
  } finally {
    await handle.close();
  }
}

export async function hasBytes(path: string, { sha256, bytes }: Digest): Promise<boolean> {
  try {
    return lstatOrAbsent(path)?.size === bytes && (await hashFile(path))?.sha256 === sha256;
  } catch (error) {
    if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP', 'ENOTDIR')) return false;
    throw error;
  }
}

/** Yields the first `most` bytes of a file. The caller must use each piece before it requests the next one. */
export async function* readPieces(
  handle: FileHandle,
  most: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(Math.min(most, 1 << 18));
  for (let at = 0; at < most; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, most - at), at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** Hashes an open file. Bytes that are appended during the call are ignored. */
export async function hashHandle(handle: FileHandle): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of readPieces(handle, fstatSync(handle.fd).size)) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
