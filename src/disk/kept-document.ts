import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Json } from '../json.ts';
import { readJsonFile } from './kept-json.ts';
import { isErrno, UnsafeFileError } from './plain-file.ts';
import { replaceFile } from './replace.ts';
import { isRealFolder, prepareStateFolder } from './state-folder.ts';

/** The service's own OpenAPI document, as it was fetched last. */
export interface KeptDocument {
  document: Json;
  /** Milliseconds since 1970. */
  fetchedAt: number;
}

/** In bytes, as it is kept. */
const longestDocument = 8 * 1024 * 1024;
const unreadable = ['EACCES', 'EPERM', 'EIO', 'ELOOP', 'ENOTDIR'];

/** Undefined when there is none, or none that can be trusted to be what was kept. */
export async function readKeptDocument(state: string, service: string): Promise<KeptDocument | undefined> {
  try {
    if (!isRealFolder(state) || !isRealFolder(join(state, 'service'))) return undefined;
    const kept = await readJsonFile(pathOf(state, service), longestDocument);
    return kept === undefined ? undefined : readKept(kept);
  } catch (error) {
    if (error instanceof UnsafeFileError || isNoJson(error) || isErrno(error, ...unreadable)) return undefined;
    throw error;
  }
}

/** Out of git, like everything in this folder. A document that cannot be kept is fetched again next time. */
export async function keepDocument(
  state: string,
  service: string,
  fetched: { document: Json; now: number },
): Promise<void> {
  const { document, now } = fetched;
  try {
    const text = JSON.stringify({ fetchedAt: now, sha256: digest(document), document });
    if (Buffer.byteLength(text) > longestDocument) return;
    await prepareStateFolder(state, 'service');
    await replaceFile(pathOf(state, service), text);
  } catch (error) {
    const isOfDisk = error instanceof UnsafeFileError || (error as NodeJS.ErrnoException).code !== undefined;
    if (!isOfDisk && !isNoJson(error)) throw error;
  }
}

function readKept(kept: Json): KeptDocument | undefined {
  if (kept === null || typeof kept !== 'object' || Array.isArray(kept)) return undefined;
  const { document, sha256, fetchedAt } = kept;
  if (document === undefined || typeof fetchedAt !== 'number' || digest(document) !== sha256) return undefined;
  return { document, fetchedAt };
}

/** Not JSON, or nested more deeply than can be walked. */
function isNoJson(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof RangeError;
}

function pathOf(state: string, service: string): string {
  return join(state, 'service', `${service.replace(/[^A-Za-z0-9]/g, '_')}.json`);
}

function digest(document: Json): string {
  return createHash('sha256').update(JSON.stringify(document)).digest('hex');
}
