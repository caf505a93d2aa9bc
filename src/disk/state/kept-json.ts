import { constants } from 'node:fs';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { Json } from '../../ground/json.ts';
import { openPlainFile } from '../fs/plain-file.ts';

/** Reads JSON, also after a byte order mark. `undefined` if the file is missing or exceeds `mostBytes`. */
export async function readJsonFile(path: string, mostBytes: number): Promise<Json | undefined> {
  const handle = await openPlainFile(path, constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    if (size > mostBytes) return undefined;
    return JSON.parse((await handle.readFile('utf8')).replace(/^\ufeff/, '')) as Json;
  } finally {
    await handle.close();
  }
}

/** Ignores failures of a cache: returns `undefined` if the disk refuses, or if the content is not JSON. */
export async function orForgotten<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isOfDisk = error instanceof UnsafeFileError || (error as NodeJS.ErrnoException).code !== undefined;
    // `RangeError`: nested too deeply.
    if (isOfDisk || error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
