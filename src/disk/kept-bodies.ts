import { constants } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openPlainFile, UnsafeFileError } from './plain-file.ts';
import { replaceFile } from './replace.ts';
import { isRealFolder, prepareStateFolder } from './state-folder.ts';

/**
 * Request bodies of creates that are on their way, one file per idempotency key, beside the lock but out of git:
 * a body that holds another step's link (which may be signed, and may differ tomorrow) must be sent again with the very
 * same bytes, and links do not belong into the lock.
 *
 * The folder may have come with a branch of somebody else: links and pipes in it are refused (`UnsafeFileError`).
 */
export interface KeptBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
}

/** More than any request: the service takes 10 MB at the most. */
const longestBody = 10 * 1024 * 1024;

export function createKeptBodies(folder: string): KeptBodies {
  const bodies = join(folder, 'bodies');
  const pathOf = (key: string) => join(bodies, `${key.replace(/[^A-Za-z0-9-]/g, '_')}.json`);
  const areReal = () => isRealFolder(folder) && isRealFolder(bodies);
  return {
    async keep(key, body) {
      await prepareStateFolder(folder, 'bodies');
      await replaceFile(pathOf(key), body);
    },
    async read(key) {
      if (!areReal()) return undefined;
      // Anything but “never kept” must not end in other bytes under the same key.
      const handle = await openPlainFile(pathOf(key), constants.O_RDONLY);
      if (handle === undefined) return undefined;
      try {
        const { size } = await handle.stat();
        if (size > longestBody) throw new UnsafeFileError(pathOf(key), 'larger than any request');
        return (await handle.readFile()).toString('utf8');
      } finally {
        await handle.close();
      }
    },
    async drop(key) {
      if (areReal()) await rm(pathOf(key), { force: true });
    },
  };
}
