import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../json.ts';
import { isErrno, openPlainFile, orAbsent, UnsafeFileError } from './plain-file.ts';
import { replaceFile } from './replace.ts';

/** The service's own OpenAPI document, as it was fetched last. */
export interface KeptDocument {
  document: Json;
  /** Milliseconds since 1970. */
  fetchedAt: number;
}

const longestDocument = 8 * 1024 * 1024;

/** Undefined when there is none, or none that can be trusted to be what was kept. */
export async function readKeptDocument(state: string, service: string): Promise<KeptDocument | undefined> {
  try {
    if (!(await isRealFolder(state)) || !(await isRealFolder(join(state, 'service')))) return undefined;
    const handle = await openPlainFile(pathOf(state, service), constants.O_RDONLY);
    if (handle === undefined) return undefined;
    try {
      const { size } = await handle.stat();
      if (size > longestDocument + 1024) return undefined;
      const kept = JSON.parse((await handle.readFile()).toString('utf8')) as { [key: string]: Json };
      const { document, sha256, fetchedAt } = kept;
      if (document === undefined || typeof fetchedAt !== 'number' || digest(document) !== sha256) return undefined;
      return { document, fetchedAt };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO')) {
      return undefined;
    }
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
  const text = JSON.stringify({ fetchedAt: now, sha256: digest(document), document });
  if (text.length > longestDocument) return;
  try {
    await mkdir(join(state, 'service'), { recursive: true, mode: 0o700 });
    if (!(await isRealFolder(state)) || !(await isRealFolder(join(state, 'service')))) return;
    await writeFile(join(state, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
    await replaceFile(pathOf(state, service), text);
  } catch (error) {
    if (!(error instanceof UnsafeFileError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

function pathOf(state: string, service: string): string {
  return join(state, 'service', `${service.replace(/[^A-Za-z0-9]/g, '_')}.json`);
}

function digest(document: Json): string {
  return createHash('sha256').update(JSON.stringify(document)).digest('hex');
}

async function isRealFolder(path: string): Promise<boolean> {
  const stats = await orAbsent(lstat(path));
  if (stats === undefined) return false;
  if (!stats.isDirectory()) throw new UnsafeFileError(path, 'not a folder');
  return true;
}
