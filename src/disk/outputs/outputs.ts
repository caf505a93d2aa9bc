import { closeSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { OutputFiles } from '../../contract/ports.ts';
import { defined } from '../../ground/values.ts';
import type { Media } from '../../kinds/kind.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import { PacedDisk } from '../fs/paced-disk.ts';
import { isErrno, openSeenFile, statPlainFile } from '../fs/plain-file.ts';
import type { Kept } from '../fs/put-in-place.ts';
import type { KeptMeasures } from '../state/kept-measures.ts';
import { measureFile } from './measure-files.ts';
import { findOutputFolder, OutputFolders } from './output-path.ts';
import { relocateOutput } from './relocate-output.ts';
import { saveOutput } from './save-output.ts';
import { SavedFiles } from './saved-files.ts';
import { knownExtensions, sniffLength, sniffMedia } from './sniff.ts';
import type { StatCache } from './stat-cache.ts';

export { checkOutputs, type OutputState } from './check-outputs.ts';

/** Most bytes of a file, more than any output has, so that an endless body does not fill the disk. */
const defaultMaxBytes = 4 * 1024 ** 3;

/**
 * Files of a campaign below one folder. All methods throw `OutputError`, and leave no partial file behind. `saved`:
 * files that may be moved and replaced; default: those that this object has saved. `kept`: folder for paid files that a
 * newer one replaces; with `beside` they are renamed in place, and without `kept` they are deleted. `measures`: known
 * measurements of files, by digest.
 */
export function createOutputs(
  root: string,
  options: { maxBytes?: number; seen?: StatCache; saved?: SavedFiles; kept?: Kept; measures?: KeptMeasures } = {},
): OutputFiles {
  const { maxBytes = defaultMaxBytes, seen, saved = new SavedFiles(), kept, measures } = options;
  const disk = new PacedDisk();
  const folders = new OutputFolders(root);
  // Moves run one after another, because files that swap names conflict.
  let lastMove: Promise<unknown> = Promise.resolve();
  return {
    save: (target, download) =>
      saveOutput({ folders, target, download, maxBytes, disk, saved, kept, ...defined({ seen }) }),
    relocate(target, from, { remove = false } = {}) {
      const move = lastMove.then(() => relocateOutput(root, { target, from, remove, disk, saved, kept }));
      lastMove = move.catch(() => undefined);
      return move;
    },
    measure: (output, aspects) => measureFile({ root, kept: measures }, { output, aspects }),
  };
}

/** A file that no step made, at a path where a step will save. */
interface Stranger {
  address: string;
  path: string;
}

/**
 * Finds the user's files at all save paths, with every extension that the bytes could require. In the order of `saves`.
 */
export async function findStrangers(
  root: string,
  saves: Iterable<{ address: string; save: string }>,
  isOurs: (path: string) => boolean,
): Promise<Stranger[]> {
  const strangers: Stranger[] = [];
  const folders = new Map<string, Set<string>>();
  for (const { address, save } of saves) {
    if (!isOutputPath(save)) continue;
    const parts = save.split('/');
    const stem = parts.pop() ?? '';
    const folder = parts.join('/');
    const names = folders.get(folder) ?? (await listNames(root, parts));
    folders.set(folder, names);
    for (const extension of names.size === 0 ? [] : knownExtensions) {
      const path = `${save}${extension}`;
      if (names.has(`${stem}${extension}`) && !isOurs(path)) strangers.push({ address, path });
    }
  }
  return strangers;
}

/** Returns whether a job of these media may have made a file, judging by its bytes and its name. */
export function mayBeOutput(root: string, path: string, media: Media): boolean {
  let fd: number | undefined;
  try {
    const file = join(root, path);
    fd = statPlainFile(file) === undefined ? undefined : openSeenFile(file)?.fd;
    if (fd === undefined) return false;
    const head = Buffer.alloc(sniffLength);
    const known = head.subarray(0, readSync(fd, head, 0, sniffLength, 0));
    // A Git LFS pointer: this clone did not fetch the file itself.
    if (known.toString('latin1').startsWith('version https://git-lfs.')) return true;
    const sniffed = sniffMedia(known);
    return sniffed?.media === media && sniffed.extension === extname(path);
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

async function listNames(root: string, parts: readonly string[]): Promise<Set<string>> {
  const folder = findOutputFolder(root, parts);
  if (folder === undefined) return new Set();
  try {
    return new Set(await readdir(folder));
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return new Set();
    throw error;
  }
}
