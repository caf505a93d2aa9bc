import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UnsafeFileError } from '../../contract/errors.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import { DiskPace } from '../fs/paced-disk.ts';
import { isErrno, statPlainFile } from '../fs/plain-file.ts';
import { type Digest, hashFile, hashSmallFile, smallBytes } from './hash-file.ts';
import { findOutputFolder } from './output-path.ts';
import type { StatCache } from './stat-cache.ts';

/** `changed`: the path has other content, or is a symbolic link or an unreadable file. */
export type OutputState = 'intact' | 'missing' | 'changed';

/** Longest time in ms without yielding to the event loop, so that key presses and signals are handled. */
const turnMs = 10;
/** Speed limits for reading small files synchronously. */
const pace = { quickMs: 0.5, patienceMs: 50 };
const filesAtATime = 8;

type Recorded = Pick<Output, 'path' | 'bytes' | 'sha256'>;

interface CheckOptions {
  /** Cache of digests, so that unchanged files are not read again. Without it, every file is read. */
  seen?: StatCache;
  /** Time in ms, from any origin. */
  now?(): number;
}

/**
 * Compares recorded outputs with the files on disk, by size and then by SHA-256. If two records name one path, it is
 * intact only if the file matches both. Small files are read synchronously, one after the other; large files, and all
 * the rest if the disk is slow, by several threads at a time.
 */
export async function checkOutputs(
  root: string,
  outputs: Iterable<Recorded>,
  { seen, now = () => performance.now() }: CheckOptions = {},
): Promise<Map<string, OutputState>> {
  const states = new Map<string, OutputState>();
  const note = ({ path }: Recorded, state: OutputState) => {
    const known = states.get(path);
    states.set(path, known === undefined || known === state ? state : 'changed');
  };
  const files = new RecordedFiles(root, seen);
  const left: Recorded[] = [];
  const disk = new DiskPace(pace);
  let at = now();
  let turnEndsAt = at + turnMs;
  for (const output of outputs) {
    const state = disk.isSlow ? 'later' : files.checkSmall(output);
    if (state === 'later') left.push(output);
    else note(output, state);
    const before = at;
    at = now();
    disk.took(at - before);
    if (at < turnEndsAt) continue;
    await nextTurn();
    at = now();
    turnEndsAt = at + turnMs;
  }
  const rest = left.values();
  const work = async () => {
    for (const output of rest) note(output, await files.check(output));
  };
  await Promise.all(Array.from({ length: filesAtATime }, work));
  return states;
}

class RecordedFiles {
  readonly #root: string;
  /** Resolved folders by their relative paths. Each is resolved once, even if it does not exist. */
  readonly #folders = new Map<string, string | undefined>();
  #buffer: Buffer | undefined;
  readonly #seen: StatCache | undefined;

  constructor(root: string, seen: StatCache | undefined) {
    this.#root = root;
    this.#seen = seen;
  }

  checkSmall(output: Recorded): OutputState | 'later' {
    try {
      const found = this.#find(output);
      if (typeof found === 'string') return found;
      if (output.bytes > smallBytes) return 'later';
      const readAt = this.#seen?.now();
      this.#buffer ??= Buffer.allocUnsafe(smallBytes);
      const digest = hashSmallFile(found.path, this.#buffer);
      return digest === 'large' ? 'later' : this.#compare(output, { ...found, digest, readAt });
    } catch (error) {
      return stateAfter(error);
    }
  }

  async check(output: Recorded): Promise<OutputState> {
    try {
      const found = this.#find(output);
      if (typeof found === 'string') return found;
      const readAt = this.#seen?.now();
      return this.#compare(output, { ...found, digest: await hashFile(found.path), readAt });
    } catch (error) {
      return stateAfter(error);
    }
  }

  /** The path of the file to read, or the state if it is known without reading. */
  #find({ path, bytes, sha256 }: Recorded): { path: string; stats: Stats } | OutputState {
    if (!isOutputPath(path)) return 'changed';
    const end = path.lastIndexOf('/');
    const names = path.slice(0, Math.max(0, end));
    if (!this.#folders.has(names))
      this.#folders.set(names, findOutputFolder(this.#root, end < 0 ? [] : names.split('/')));
    const folder = this.#folders.get(names);
    if (folder === undefined) return 'missing';
    const full = join(folder, path.slice(end + 1));
    const stats = statPlainFile(full);
    if (stats === undefined) return 'missing';
    if (stats.size !== bytes) return 'changed'; // I10
    const known = this.#seen?.recall(path, stats);
    if (known !== undefined) return known === sha256 ? 'intact' : 'changed';
    return { path: full, stats };
  }

  #compare({ path, sha256 }: Recorded, read: Reading): OutputState {
    const { digest, stats, readAt } = read;
    const isIntact = digest?.sha256 === sha256;
    // Not the equal text of the new digest: the cache keeps one for each file.
    const found = isIntact ? sha256 : digest?.sha256;
    if (found !== undefined && readAt !== undefined) this.#seen?.note(path, stats, { sha256: found, readAt });
    return isIntact ? 'intact' : 'changed';
  }
}

interface Reading {
  /** Stats taken before the file was read. */
  stats: Stats;
  /** Omitted if the file is missing. */
  digest: Digest | undefined;
  readAt: number | undefined;
}

function stateAfter(error: unknown): OutputState {
  if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP')) return 'changed';
  if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG')) return 'missing';
  throw error;
}
