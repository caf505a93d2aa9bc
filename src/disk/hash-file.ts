import { createHash } from 'node:crypto';
import { constants, fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openPlainFile } from './plain-file.ts';

/** SHA-256 (hex) and size of a plain file; undefined when there is none. Throws `UnsafeFileError` for anything else. */
export async function hashFile(path: string): Promise<{ sha256: string; bytes: number } | undefined> {
  const handle = await openPlainFile(path, constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    return await hashHandle(handle);
  } finally {
    await handle.close();
  }
}

/** As long as it was when it was opened: what is added meanwhile does not count. */
async function hashHandle(handle: FileHandle): Promise<{ sha256: string; bytes: number }> {
  const { size } = fstatSync(handle.fd);
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(size, 1 << 18));
  let bytes = 0;
  while (bytes < size) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - bytes), bytes);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  return { sha256: hash.digest('hex'), bytes };
}
