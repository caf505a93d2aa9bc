import { relative, resolve } from 'node:path';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { listLocks } from './list-locks.ts';
import type { CampaignPaths } from './paths.ts';

// What is found here was written by anybody who could commit it. It is only ever a hint, and reading it costs little.
const bounds = { folders: 400, entries: 20_000, depth: 5 };
const mostLocks = 24;
const longestLock = 8 * 1024 ** 2;
const mostBytes = 32 * 1024 ** 2;

/**
 * Reads the other locks of the working tree that were made against a service, those beside the campaign first. What is
 * broken, too large, behind a link, or of several services is passed over.
 *
 * Each comes with its path as seen from the working folder.
 *
 * @param service digest of the service's address, as in the header of a lock
 */
export async function readOtherLocks(paths: CampaignPaths, service: string): Promise<{ shown: string; lock: Lock }[]> {
  const locks: { shown: string; lock: Lock }[] = [];
  let left = mostBytes;
  for (const path of (await listLocks(paths, bounds)).filter((one) => one.endsWith('.lock.jsonl'))) {
    if (locks.length >= mostLocks || left <= 0) break;
    if (resolve(path) === resolve(paths.lock)) continue;
    try {
      const bytes = await readLockBytes(path, Math.min(longestLock, left));
      if (bytes === undefined || !bytes.includes(`"service":"${service}"`)) continue;
      left -= bytes.length;
      const { lock, services, diagnostics } = readLock(path, bytes);
      if (!hasErrors(diagnostics) && services.length === 1 && services[0] === service) {
        locks.push({ shown: relative('', path) || path, lock });
      }
    } catch {
      // Gone, no plain file, or not readable for us.
    }
  }
  return locks;
}
