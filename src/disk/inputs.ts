import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { messageOf } from '../ground/values.ts';
import { maxManifestBytes } from '../manifest/yaml/source.ts';
import { findWayOut } from './fs/own-tree.ts';
import { isErrno, readFirstBytes } from './fs/plain-file.ts';
import { type Digest, hashFile } from './outputs/hash-file.ts';
import { explainUnusable, sniffLength } from './outputs/sniff.ts';

/** Reason why an input file cannot be used. Messages contain `detail` after the file name. */
export interface ReadProblem {
  problem: 'missing' | 'outside' | 'not-a-file' | 'too-large' | 'unreadable';
  detail?: string;
}

export type FileText = { text: string } | ReadProblem;
export type FileBytes = { bytes: Uint8Array } | ReadProblem;

export const maxDataBytes = 64 * 1024 ** 2;

/**
 * Reads a manifest without its byte order mark. Refuses a link to a hidden file or to a file outside the working tree,
 * because error messages would quote that file.
 */
export async function readManifestText(path: string): Promise<FileText> {
  const wayOut = findWayOut(path);
  return wayOut === undefined
    ? asText(await readBytes(path, maxManifestBytes))
    : { problem: 'unreadable', detail: wayOut };
}

export const maxWorkbookBytes = 16 * 1024 ** 2;

/**
 * Reads a data file that the manifest names, without its byte order mark. Refuses a file outside the manifest's folder,
 * even if a link in the folder leads to it.
 */
export async function readDataFile(folder: string, path: string): Promise<FileText> {
  return asText(await readBelow(folder, path, maxDataBytes));
}

export function readDataBytes(folder: string, path: string): Promise<FileBytes> {
  return readBelow(folder, path, maxWorkbookBytes);
}

async function readBelow(folder: string, path: string, maxBytes: number): Promise<FileBytes> {
  const wanted = resolve(folder, path);
  if (isOutside(resolve(folder), wanted)) return { problem: 'outside' };
  let real: string;
  try {
    real = await realpath(wanted);
    const realFolder = await realpath(folder);
    if (isOutside(realFolder, real)) return { problem: 'outside', detail: 'a symbolic link leads out of the folder' };
    const way = relative(realFolder, real);
    // A link `data.csv -> .env` in another user's branch would put a secret into a prompt.
    if (way.split(sep).some((name) => name.startsWith('.')) || extname(real) !== extname(wanted)) {
      return { problem: 'outside', detail: 'it is a hidden file, or a symbolic link to a file with another extension' };
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return { problem: 'missing' };
    return { problem: 'unreadable', detail: messageOf(error) };
  }
  return readBytes(real, maxBytes);
}

const maxUploadBytes = 5 * 1024 ** 3;

/**
 * Hashes a file for upload. The file must be a plain file below the manifest's folder and not hidden. Refuses symbolic
 * links: with one, a git branch of another user could upload a private file.
 */
export async function digestFile(folder: string, path: string): Promise<Digest | { problem: string; hint?: string }> {
  if (isOutside(resolve(folder), resolve(folder, path))) return { problem: 'it is outside the folder of the manifest' };
  if (path.split('/').some((name) => name.startsWith('.'))) return { problem: 'it is a hidden file' };
  try {
    const real = await realpath(resolve(folder, path));
    if (
      relative(await realpath(folder), real)
        .split(sep)
        .join('/') !== path
    ) {
      return { problem: 'a symbolic link leads to it' };
    }
    const stats = await stat(real);
    if (stats.isDirectory()) return { problem: 'it is a folder' };
    if (!stats.isFile()) return { problem: 'it is a device or a pipe' };
    const { size } = stats;
    if (size > maxUploadBytes)
      return { problem: `the file has ${size} bytes, and at most ${maxUploadBytes} are uploaded` };
    const digest = await hashFile(real);
    const head = readFirstBytes(real, sniffLength);
    if (digest === undefined || head === undefined) return { problem: 'the file does not exist' };
    const wrong = explainUnusable(path, head);
    if (wrong === undefined) return digest;
    return { problem: wrong, hint: 'save the file in the format of its extension, or change the extension' };
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return { problem: 'the file does not exist' };
    return { problem: messageOf(error) };
  }
}

async function readBytes(path: string, maxBytes: number): Promise<FileBytes> {
  try {
    // Opens without waiting for the writer of a pipe. Follows symbolic links, because a manifest may be one.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (stats.isDirectory()) return { problem: 'not-a-file', detail: 'it is a folder' };
      if (!stats.isFile()) return { problem: 'not-a-file', detail: 'it is a device or a pipe' };
      if (stats.size > maxBytes) {
        return { problem: 'too-large', detail: `the file has ${stats.size} bytes, and at most ${maxBytes} are read` };
      }
      return { bytes: await handle.readFile() };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return { problem: 'missing' };
    if (isErrno(error, 'EISDIR')) return { problem: 'not-a-file', detail: 'it is a folder' };
    return { problem: 'unreadable', detail: messageOf(error) };
  }
}

export function asText(read: FileBytes): FileText {
  if ('problem' in read) return read;
  const text = decodeUtf8(read.bytes);
  if (text !== undefined) return { text };
  return { problem: 'unreadable', detail: `${otherEncoding(read.bytes)}; save the file as UTF-8` };
}

function otherEncoding(bytes: Uint8Array): string {
  const mark = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  if (mark === 0x504b) return 'it is a ZIP archive, such as a workbook';
  if (mark === 0xfffe || mark === 0xfeff || bytes.includes(0)) return 'it is UTF-16 text, or a binary file';
  // In Windows-1252, bytes from 0x80 on are Western European letters and quotation marks; a few are undefined.
  const isWestern = ![0x81, 0x8d, 0x8f, 0x90, 0x9d].some((byte) => bytes.includes(byte));
  return `line ${firstBadLine(bytes)} is not UTF-8 text${isWestern ? ', but probably Windows-1252' : ''}`;
}

function isOutside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}

function firstBadLine(bytes: Uint8Array): number {
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  return lines.findIndex((line) => decodeUtf8(Buffer.from(line, 'latin1')) === undefined) + 1;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
