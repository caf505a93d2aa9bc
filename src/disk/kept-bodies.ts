import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from './plain-file.ts';
import { replaceFile } from './replace.ts';

/**
 * Request bodies of creates that are on their way, one file per idempotency key, beside the lock but out of git:
 * a body that holds another step's link (which may be signed, and may differ tomorrow) must be sent again with the very
 * same bytes, and links do not belong into the lock.
 */
export interface KeptBodies {
  keep(key: string, body: string): Promise<void>;
  read(key: string): Promise<string | undefined>;
  drop(key: string): Promise<void>;
}

export function createKeptBodies(folder: string): KeptBodies {
  const pathOf = (key: string) => join(folder, 'bodies', `${key.replace(/[^A-Za-z0-9-]/g, '_')}.json`);
  return {
    async keep(key, body) {
      await mkdir(join(folder, 'bodies'), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, '.gitignore'), '*\n');
      await replaceFile(pathOf(key), body);
    },
    async read(key) {
      try {
        return await readFile(pathOf(key), 'utf8');
      } catch (error) {
        // Anything but “never kept” must not end in other bytes under the same key.
        if (isErrno(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    drop: (key) => rm(pathOf(key), { force: true }),
  };
}
