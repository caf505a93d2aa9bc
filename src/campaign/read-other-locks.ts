import { join, resolve } from 'node:path';
import { isOpenFolder, listFolder } from '../disk/fs/list-folder.ts';
import { repositoryOf } from '../disk/fs/own-tree.ts';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import type { CampaignPaths } from './paths.ts';

// What is found here was written by anybody who could commit it. It is only ever a hint, and reading it costs little.
const mostFolders = 400;
const mostEntries = 20_000;
const deepest = 5;
const mostLocks = 24;
const longestLock = 8 * 1024 ** 2;
const mostBytes = 32 * 1024 ** 2;

/**
 * Reads the other locks of the working tree that were made against a service, those beside the campaign first. What is
 * broken, too large, behind a link, or of several services is passed over.
 *
 * @param service digest of the service's address, as in the header of a lock
 */
export async function readOtherLocks(paths: CampaignPaths, service: string): Promise<Lock[]> {
  const locks: Lock[] = [];
  let left = mostBytes;
  for (const path of await listLocks(paths)) {
    if (locks.length >= mostLocks || left <= 0) break;
    if (resolve(path) === resolve(paths.lock)) continue;
    try {
      const bytes = await readLockBytes(path, Math.min(longestLock, left));
      if (bytes === undefined || !bytes.includes(`"service":"${service}"`)) continue;
      left -= bytes.length;
      const { lock, services, diagnostics } = readLock(path, bytes);
      if (!hasErrors(diagnostics) && services.length === 1 && services[0] === service) locks.push(lock);
    } catch {
      // Gone, no plain file, or not readable for us.
    }
  }
  return locks;
}

/** Lists locks breadth first from the campaign's folder, then from the root of its working tree. */
async function listLocks({ folder, manifest }: CampaignPaths): Promise<string[]> {
  const found = new Set<string>();
  const seen = new Set<string>();
  let entries = 0;
  // Without git only the campaign's own folder is known to belong together.
  const open = [folder, repositoryOf(manifest) ?? folder].map((path) => ({ path, depth: 0 }));
  for (const { path, depth } of open) {
    if (seen.size >= mostFolders || entries >= mostEntries) break;
    if (seen.has(path)) continue;
    seen.add(path);
    const list = (await listFolder(path)).slice(0, mostEntries);
    entries += list.length;
    for (const entry of list) {
      if (entry.isFile() && entry.name.endsWith('.lock.jsonl')) found.add(join(path, entry.name));
      if (depth < deepest && isOpenFolder(entry)) open.push({ path: join(path, entry.name), depth: depth + 1 });
    }
  }
  return [...found];
}
