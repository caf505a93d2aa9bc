import type { Stats } from 'node:fs';
import { extname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UnsafeFileError } from '../../contract/errors.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import type { SeenOutput } from '../../plan/decisions/pin.ts';
import { isErrno, readFirstBytes, statPlainFile } from '../fs/plain-file.ts';
import { hashFile, smallBytes } from './hash-file.ts';
import { findOutputFile, findOutputFolder } from './output-path.ts';
import { knownExtensions, sniffLength, sniffMedia } from './sniff.ts';
import type { StatCache } from './stat-cache.ts';

interface PlacedFile {
  path: string;
  stats: Stats;
}

/**
 * Finds output files at their recorded paths without reading them. Finds only plain files, and follows no link, because
 * a lock line can contain any path. Caches which folders exist, so create a new object for each check.
 */
export class PlacedFiles {
  readonly #root: string;
  readonly #folders = new Map<string, string | undefined>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Finds a media file. Returns `damaged` if the path is not a plain file or the size differs. */
  inspect(output: Pick<Output, 'path' | 'bytes'>): PlacedFile | 'missing' | 'damaged' {
    if (!knownExtensions.includes(extname(output.path))) return 'damaged'; // I23
    return this.find(output);
  }

  find({ path, bytes }: Pick<Output, 'path' | 'bytes'>): PlacedFile | 'missing' | 'damaged' {
    if (!isOutputPath(path)) return 'damaged';
    try {
      const found = this.#find(path);
      if (found === undefined) return 'missing';
      return found.stats.size === bytes ? found : 'damaged';
    } catch (error) {
      return stateAfter(error);
    }
  }

  #find(path: string): PlacedFile | undefined {
    const end = path.lastIndexOf('/');
    const names = path.slice(0, Math.max(0, end));
    if (!this.#folders.has(names)) {
      this.#folders.set(names, findOutputFolder(this.#root, end < 0 ? [] : names.split('/')));
    }
    const folder = this.#folders.get(names);
    if (folder === undefined) return undefined;
    const full = join(folder, path.slice(end + 1));
    const stats = statPlainFile(full);
    return stats && { path: full, stats };
  }
}

function stateAfter(error: unknown): 'missing' | 'damaged' {
  if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP')) return 'damaged';
  if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG')) return 'missing';
  throw error;
}

/** `changed`: the file has other content or is unreadable, or the path is a symbolic link. */
export type OutputState = 'intact' | 'missing' | 'changed';

type Recorded = Pick<Output, 'path' | 'bytes' | 'sha256'>;

/** Time in ms after which a check yields to the event loop, so that the process handles keys and signals. */
const turnMs = 10;
const filesAtATime = 8;

/**
 * Compares recorded outputs with the files on disk, by size and then by SHA-256. If two records have the same path, the
 * file is intact only if it matches both. `seen`: cached digests, so that unchanged files are not read again.
 */
export async function checkOutputs(
  root: string,
  outputs: Iterable<Recorded>,
  { seen }: { seen?: StatCache } = {},
): Promise<Map<string, OutputState>> {
  const states = new Map<string, OutputState>();
  const note = ({ path }: Recorded, state: OutputState) => {
    const known = states.get(path);
    states.set(path, known === undefined || known === state ? state : 'changed');
  };
  const placed = new PlacedFiles(root);
  const large: (() => Promise<void>)[] = [];
  let turnEndsAt = performance.now() + turnMs;
  for (const output of outputs) {
    const { path, bytes, sha256 } = output;
    const found = placed.find(output);
    if (typeof found === 'string') {
      note(output, found === 'missing' ? 'missing' : 'changed'); // I10
      continue;
    }
    const known = seen?.recall(path, found.stats);
    if (known !== undefined) {
      note(output, known === sha256 ? 'intact' : 'changed');
      continue;
    }
    const compare = async () => {
      const readAt = seen?.now() ?? 0;
      try {
        const digest = (await hashFile(found.path))?.sha256;
        // If the digests are equal, uses the lock's string, so that memory does not hold a second string for each file.
        const kept = digest === sha256 ? sha256 : digest;
        if (kept !== undefined) seen?.note(path, found.stats, { sha256: kept, readAt });
        note(output, digest === sha256 ? 'intact' : 'changed');
      } catch (error) {
        note(output, stateAfter(error) === 'missing' ? 'missing' : 'changed');
      }
    };
    if (bytes > smallBytes) large.push(compare);
    else await compare();
    if (performance.now() < turnEndsAt) continue;
    await nextTurn();
    turnEndsAt = performance.now() + turnMs;
  }
  const rest = large.values();
  const work = async () => {
    for (const check of rest) await check();
  };
  await Promise.all(Array.from({ length: filesAtATime }, work));
  return states;
}

/** Inspects a saved file. If the content has changed, returns the digest, size and media type of the new content. */
export async function inspectOutput(root: string, output: Output): Promise<SeenOutput> {
  if (!isOutputPath(output.path)) return { is: 'unusable', why: 'is not a plain path' };
  try {
    const path = findOutputFile(root, output.path);
    const seen = path === undefined ? undefined : await hashFile(path);
    if (path === undefined || seen === undefined) return { is: 'missing' };
    if (seen.sha256 === output.sha256 && seen.bytes === output.bytes) return { is: 'intact' };
    const media = sniffMedia(readFirstBytes(path, sniffLength) ?? Buffer.alloc(0))?.type;
    if (media === undefined) return { is: 'unusable', why: 'is not a known image, sound or video' };
    return { is: 'edited', output: { path: output.path, ...seen, type: media, edited: true } };
  } catch (error) {
    return stateAfter(error) === 'missing'
      ? { is: 'missing' }
      : { is: 'unusable', why: 'is not a readable plain file' };
  }
}
