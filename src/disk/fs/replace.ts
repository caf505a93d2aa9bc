import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameFile, syncFolder, unlinkFile, writeAll } from './durable.ts';
import { hasNoLinks, isErrno, noFollow, orAbsent, statPlainFile } from './plain-file.ts';

/**
 * Replaces a file atomically. Every reader finds either the whole old content or the whole new content, even after a
 * power cut. After an error, the old file is unchanged. Throws `UnsafeFileError` if the path is not a plain file.
 */
export async function replaceFile(path: string, content: string | Uint8Array | Iterable<Uint8Array>): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const old = statPlainFile(path);
  const folder = dirname(path);
  const temporary = join(folder, temporaryName('tmp'));
  try {
    await writeNewFile(temporary, bytes, old === undefined ? 0o666 : old.mode & 0o777);
    await renameFile(temporary, path); // I9 (rename)
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}

/** Creates a file and syncs the content but not the folder. Throws if the file exists. */
export async function writeNewFile(
  path: string,
  content: Uint8Array | Iterable<Uint8Array>,
  mode = 0o666,
): Promise<void> {
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, mode);
  try {
    let written = 0;
    for (const piece of content instanceof Uint8Array ? [content] : content) {
      writeAll(handle.fd, piece);
      written += piece.length;
    }
    const { size } = await handle.stat();
    if (size !== written) throw new Error(`${path} has ${size} bytes after ${written} were written`);
    await handle.sync(); // I9 (sync)
  } finally {
    await handle.close();
  }
}

/**
 * Creates a durable file with its full content. If several processes call this for one path, exactly one succeeds.
 * Returns false if the file exists. On a file system without hard links, other processes may briefly see an empty file.
 */
export async function createWhole(path: string, content: Uint8Array, mode: number): Promise<boolean> {
  const temporary = join(dirname(path), temporaryName('tmp'));
  await writeNewFile(temporary, content, mode);
  try {
    await link(temporary, path); // I13
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    if (!hasNoLinks(error)) throw error;
    return await createDirectly(path, content, mode);
  } finally {
    await orAbsent(unlinkFile(temporary));
  }
}

async function createDirectly(path: string, content: Uint8Array, mode: number): Promise<boolean> {
  try {
    await writeNewFile(path, content, mode);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

export function temporaryName(extension: 'tmp' | 'part'): string {
  return `.mediabatch-${randomId()}.${extension}`;
}

export function randomId(): string {
  return randomUUID().split('-', 3).join('');
}
