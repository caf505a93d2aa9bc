import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlainFile, openSeenFile, statPlainFile } from '../fs/plain-file.ts';
import { replaceFile } from '../fs/replace.ts';
import { makeOwnSecret, readOwnSecret } from './own-secret.ts';
import { hasRealFolders, prepareStateFolder } from './state-folder.ts';

/**
 * Files in `.mediabatch/` that later runs rely on. The folder is in a working tree, so a merged branch could add files
 * to it. Each file has a seal (HMAC) made with this user's secret; a file without a valid seal is ignored.
 */
const beginning = 'mediabatch-sealed 1 ';
const headLength = beginning.length + 64 + 1;

/**
 * Reads the content stored under a name (`durations.json`, `bodies/KEY.json`); `undefined` if there is none, or if this
 * user did not write it. Throws `UnsafeFileError` for a link or a device in place of the file or of a folder.
 */
export async function readSealedFile(state: string, name: string, mostBytes: number): Promise<Buffer | undefined> {
  const secret = readOwnSecret();
  if (secret === undefined || !hasRealFolders(state, folderOf(name))) return undefined;
  const handle = await openPlainFile(join(state, name), constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    if (size > mostBytes + headLength) return undefined;
    return contentOf(await handle.readFile(), name, secret);
  } finally {
    await handle.close();
  }
}

/** Reads like `readSealedFile`, but synchronously, for thousands of small files. `secret`: of `readOwnSecret`. */
export function readSmallSealedFile(
  state: string,
  name: string,
  { mostBytes, secret }: { mostBytes: number; secret: Buffer },
): Buffer | undefined {
  const path = join(state, name);
  if (!hasRealFolders(state, folderOf(name)) || statPlainFile(path) === undefined) return undefined;
  const file = openSeenFile(path);
  if (file === undefined) return undefined;
  try {
    return file.size > mostBytes + headLength ? undefined : contentOf(readFileSync(file.fd), name, secret);
  } finally {
    closeSync(file.fd);
  }
}

/** Writes a file with its seal. Returns false, and writes nothing, if it cannot be sealed. */
export async function writeSealedFile(state: string, name: string, content: string | Uint8Array): Promise<boolean> {
  const secret = await makeOwnSecret();
  if (secret === undefined) return false;
  await prepareStateFolder(state, folderOf(name));
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  await replaceFile(join(state, name), [Buffer.from(headOf(secret, name, bytes)), bytes]);
  return true;
}

/** Returns the seal, in hex, which proves that this user wrote `content` under this name. */
export function sealOf(secret: Buffer, name: string, content: string | Uint8Array): string {
  return createHmac('sha256', secret).update(`${name}\0`).update(content).digest('hex');
}

/** Returns the content of a sealed file; `undefined` if this user did not seal it under this name. */
function contentOf(bytes: Buffer, name: string, secret: Buffer): Buffer | undefined {
  const content = bytes.subarray(headLength);
  const head = Buffer.from(headOf(secret, name, content));
  // I23
  return bytes.length >= headLength && timingSafeEqual(head, bytes.subarray(0, headLength)) ? content : undefined;
}

function headOf(secret: Buffer, name: string, content: Uint8Array): string {
  return `${beginning}${sealOf(secret, name, content)}\n`;
}

function folderOf(name: string): string {
  return name.split('/').slice(0, -1).join('/');
}
