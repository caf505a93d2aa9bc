import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { RequestBodies } from '../../contract/ports.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';
import { isRealFolder } from './state-folder.ts';

/** Maximum size of a request body in bytes. The service accepts at most 10 MB. */
const longestBody = 10 * 1024 * 1024;

/** Time in ms after which a stored body is deleted. The service forgets an idempotency key earlier. */
const keptForMs = 48 * 3_600_000;

export function createRequestBodies(state: string): RequestBodies {
  const nameOf = (key: string) => `bodies/${key.replace(/[^A-Za-z0-9-]/g, '_')}.json`;
  return {
    async keep(key, body) {
      await writeSealedFile(state, nameOf(key), body);
    },
    async read(key) {
      try {
        return (await readSealedFile(state, nameOf(key), { mostBytes: longestBody }))?.toString('utf8');
      } catch (error) {
        // If the path is a link or a device, no body was stored. Any other error, such as a failing disk, is thrown, so
        // that the run does not send different bytes with the same idempotency key.
        if (error instanceof UnsafeFileError) return undefined;
        throw error;
      }
    },
    answered: () => forgetOld(state),
    async drop(key) {
      if (isRealFolder(state) && isRealFolder(join(state, 'bodies')))
        await rm(join(state, nameOf(key)), { force: true });
    },
  };
}

const tidied = new Set<string>();

async function forgetOld(state: string): Promise<void> {
  const folder = join(state, 'bodies');
  if (tidied.has(folder) || !isRealFolder(state) || !isRealFolder(folder)) return;
  tidied.add(folder);
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const seen = await stat(path).catch(() => undefined);
    if (seen?.isFile() && Date.now() - seen.mtimeMs > keptForMs) await rm(path, { force: true }).catch(() => {});
  }
}
