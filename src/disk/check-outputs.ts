import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isOutputPath } from '../lock/check-line.ts';
import type { Output } from '../lock/record.ts';
import { hashFile, hashSmallFile } from './hash-file.ts';
import { findOutputFolder } from './output-path.ts';
import { isErrno, statPlainFile, UnsafeFileError } from './plain-file.ts';

/** `changed`: there is something else under this name, a symbolic link or a file that cannot be read included. */
export type OutputState = 'intact' | 'missing' | 'changed';

/** A file of this size that the system has in memory is read and hashed in a fraction of a millisecond. */
const smallBytes = 1 << 17;
/** So long nothing else of this process gets its turn: a key that was pressed, a signal. */
const turnMs = 10;
/** What a small file may take on average, and how far behind that all of them together may fall. */
const quickMs = 0.5;
const patienceMs = 50;
/** Of those that are read by threads. */
const filesAtATime = 8;

/**
 * Compares recorded outputs with the files on disk, by size and then by SHA-256. When two records name one path, it is
 * intact only if the file is what both say. Small files are read at once, one after the other; large ones, and all that
 * are left as soon as the disk turns out to be slow, by threads and several at a time.
 */
export async function checkOutputs(
  root: string,
  outputs: Iterable<Output>,
  now: () => number = () => performance.now(),
): Promise<Map<string, OutputState>> {
  const states = new Map<string, OutputState>();
  const note = ({ path }: Output, state: OutputState) => {
    const known = states.get(path);
    states.set(path, known === undefined || known === state ? state : 'changed');
  };
  const files = new RecordedFiles(root);
  const left: Output[] = [];
  let behindMs = 0;
  let at = now();
  let turnEndsAt = at + turnMs;
  for (const output of outputs) {
    const state = behindMs > patienceMs ? 'later' : files.checkSmall(output);
    if (state === 'later') left.push(output);
    else note(output, state);
    const before = at;
    at = now();
    behindMs = Math.max(0, behindMs + at - before - quickMs);
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
  /** By the names that lead to it. Looked for once, also where there is none. */
  readonly #folders = new Map<string, string | undefined>();
  readonly #buffer = Buffer.allocUnsafe(smallBytes);

  constructor(root: string) {
    this.#root = root;
  }

  checkSmall(output: Output): OutputState | 'later' {
    if (output.bytes > smallBytes) return 'later';
    try {
      const found = this.#find(output);
      if (typeof found === 'string') return found;
      const seen = hashSmallFile(found.path, this.#buffer);
      return seen === 'large' ? 'later' : compare(seen, output);
    } catch (error) {
      return stateAfter(error);
    }
  }

  async check(output: Output): Promise<OutputState> {
    try {
      const found = this.#find(output);
      return typeof found === 'string' ? found : compare(await hashFile(found.path), output);
    } catch (error) {
      return stateAfter(error);
    }
  }

  /** Where the file lies that has to be read, or what is known without that. */
  #find({ path, bytes }: Output): { path: string } | OutputState {
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
    if (stats.size !== bytes) return 'changed';
    return { path: full };
  }
}

function compare(seen: { sha256: string } | undefined, { sha256 }: Output): OutputState {
  return seen?.sha256 === sha256 ? 'intact' : 'changed';
}

function stateAfter(error: unknown): OutputState {
  if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP')) return 'changed';
  if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG')) return 'missing';
  throw error;
}
