import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
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
export async function readOtherLocks({ folder, lock: own }: CampaignPaths, service: string): Promise<Lock[]> {
  const locks: Lock[] = [];
  let left = mostBytes;
  for (const path of await listLocks(folder)) {
    if (locks.length >= mostLocks || left <= 0) break;
    if (resolve(path) === resolve(own)) continue;
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
async function listLocks(folder: string): Promise<string[]> {
  const found = new Set<string>();
  const seen = new Set<string>();
  let entries = 0;
  let open = [folder, rootOf(folder)].map((path) => ({ path, depth: 0 }));
  while (open.length > 0 && seen.size < mostFolders && entries < mostEntries) {
    const [{ path, depth } = { path: folder, depth: 0 }, ...others] = open;
    open = others;
    if (seen.has(path)) continue;
    seen.add(path);
    const list = await entriesOf(path);
    entries += list.length;
    for (const entry of list) {
      if (entry.isFile() && entry.name.endsWith('.lock.jsonl')) found.add(join(path, entry.name));
      const isOpen = entry.isDirectory() && depth < deepest && !/^\.|^node_modules$/.test(entry.name);
      if (isOpen) open.push({ path: join(path, entry.name), depth: depth + 1 });
    }
  }
  return [...found];
}

/** The folder that git keeps; without git that of the campaign. */
function rootOf(folder: string): string {
  for (let path = folder; ; path = dirname(path)) {
    if (existsSync(join(path, '.git'))) return path;
    if (dirname(path) === path) return folder;
  }
}

/** In the order of their names, whatever the file system's is. A folder that cannot be listed has nothing for us. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, mostEntries);
  } catch {
    return [];
  }
}
