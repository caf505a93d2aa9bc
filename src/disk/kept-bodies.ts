import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UnsafeFileError } from './plain-file.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';
import { isRealFolder } from './state-folder.ts';

/**
 * Request bodies of creates that are on their way, one file per idempotency key, beside the lock but out of git:
 * a body that holds another step's link (which may be signed, and may differ tomorrow) must be sent again with the very
 * same bytes, and links do not belong into the lock.
 *
 * The folder may have come with a branch of somebody else: only what was written here is read, and nothing is written or
 * removed behind a link (`UnsafeFileError`).
 */
export interface KeptBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
}

/** More than any request: the service takes 10 MB at the most. */
const longestBody = 10 * 1024 * 1024;

export function createKeptBodies(state: string): KeptBodies {
  const nameOf = (key: string) => `bodies/${key.replace(/[^A-Za-z0-9-]/g, '_')}.json`;
  return {
    async keep(key, body) {
      await writeSealedFile(state, nameOf(key), body);
    },
    async read(key) {
      try {
        return (await readSealedFile(state, nameOf(key), longestBody))?.toString('utf8');
      } catch (error) {
        // Never kept. Anything else (a disk that fails) must not end in other bytes under the same key.
        if (error instanceof UnsafeFileError) return undefined;
        throw error;
      }
    },
    async drop(key) {
      if (isRealFolder(state) && isRealFolder(join(state, 'bodies')))
        await rm(join(state, nameOf(key)), { force: true });
    },
  };
}
