import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameFile, syncFolder, writeAll } from './durable.ts';
import { noFollow, statPlainFile } from './plain-file.ts';

/**
 * Replaces a file as a whole: whoever looks, also after a power cut, finds all of the old or all of the new content.
 * When it throws, the old file is as it was. Refuses a target that is not a plain file (`UnsafeFileError`).
 */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const old = statPlainFile(path);
  const folder = dirname(path);
  const temporary = join(folder, temporaryName('tmp'));
  try {
    await writeNewFile(temporary, bytes, old === undefined ? 0o666 : old.mode & 0o777);
    await renameFile(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}

/** Creates a file with this content, durable but for its name. Throws when there is one already. */
export async function writeNewFile(path: string, bytes: Uint8Array, mode = 0o666): Promise<void> {
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, mode);
  try {
    await writeAll(handle, bytes);
    const { size } = await handle.stat();
    if (size !== bytes.length) throw new Error(`${path} has ${size} bytes after ${bytes.length} were written`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A name that nobody guesses, in the folder of the file that it will become. */
export function temporaryName(extension: 'tmp' | 'part'): string {
  return `.mediabatch-${randomBytes(8).toString('hex')}.${extension}`;
}
