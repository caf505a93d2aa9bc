import { dirname, join, relative, resolve } from 'node:path';
import { isOpenFolder, listFolder } from '../disk/fs/list-folder.ts';
import { repositoryOf } from '../disk/fs/own-tree.ts';
import { readStart } from '../disk/fs/plain-file.ts';
import type { CampaignPaths } from './paths.ts';

/** How far a tree is walked: anybody can commit folders. */
export interface TreeBounds {
  folders: number;
  entries: number;
  depth: number;
}

/**
 * Lists locks breadth first from the campaign's folder and from the root of its working tree, or of the working folder
 * where that holds it. Of a folder around a campaign that is in neither only its own files are looked at.
 */
export async function listLocks({ folder, manifest }: CampaignPaths, bounds: TreeBounds): Promise<string[]> {
  const found = new Set<string>();
  const seen = new Set<string>();
  let entries = 0;
  const root = repositoryOf(manifest) ?? (isAbove(resolve(''), folder) ? resolve('') : undefined);
  const open = [
    { path: folder, depth: 0 },
    root === undefined ? { path: dirname(folder), depth: bounds.depth } : { path: root, depth: 0 },
  ];
  for (const { path, depth } of open) {
    if (seen.size >= bounds.folders || entries >= bounds.entries) break;
    if (seen.has(path)) continue;
    seen.add(path);
    const list = (await listFolder(path)).slice(0, bounds.entries);
    entries += list.length;
    for (const entry of list) {
      if (entry.isFile() && isLock(path, entry.name)) found.add(join(path, entry.name));
      if (depth < bounds.depth && isOpenFolder(entry)) open.push({ path: join(path, entry.name), depth: depth + 1 });
    }
  }
  return [...found];
}

/** Whether a file is a lock, by name or beginning. One that was set aside as .orig or .bak tells of the same jobs. */
function isLock(folder: string, name: string): boolean {
  if (!/\.jsonl/i.test(name)) return false;
  return /lock.*\.jsonl/i.test(name) || /"mediabatch"\s*:\s*"lock"/.test(readStart(join(folder, name), 200) ?? '');
}

function isAbove(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !way.startsWith('..');
}
