import { createHash, type Hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import type { Digest } from '../outputs/hash-file.ts';
import { orForgotten } from '../state/kept-json.ts';
import { readSealedFile, writeSealedFile } from '../state/sealed-file.ts';

/**
 * The lock as this machine wrote it last, or began to append to it: its size, its digest, and digests of its beginnings
 * by which a part of it is recognized. Kept out of git, beside the guard.
 */
export interface SeenLock extends Digest {
  /** Ends of lines with the digests of all before them; not of every line where there are many. */
  beginnings: readonly (readonly [bytes: number, digest: string])[];
  /** Number of lines from one of them to the next. */
  every: number;
}

/** `grown`: all of it, and perhaps appended lines. `cut`: only a part, and perhaps zero bytes. */
export type SeenAs = 'grown' | 'cut' | 'other';

const mostBeginnings = 512;
const mostBytes = 1 << 20;
const lineFeed = 0x0a;

/** Digest of a file of lines, and of its beginnings. */
export class LinesDigest {
  readonly #hash: Hash = createHash('sha256');
  #beginnings: [number, string][] = [];
  #every = 1;
  #lines = 0;
  size = 0;

  update(bytes: Uint8Array): void {
    let at = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) {
      this.#lines += 1;
      if (this.#lines % this.#every !== 0) continue;
      this.#hash.update(bytes.subarray(at, end + 1));
      at = end + 1;
      this.#beginnings.push([this.size + at, beginningOf(this.#hash)]);
      if (this.#beginnings.length < mostBeginnings) continue;
      this.#beginnings = this.#beginnings.filter((_one, index) => index % 2 === 1);
      this.#every *= 2;
    }
    this.#hash.update(bytes.subarray(at));
    this.size += bytes.length;
  }

  /** Copies the hash, to go on with bytes that belong to something else. */
  copyHash(): Hash {
    return this.#hash.copy();
  }

  get seen(): SeenLock {
    const sha256 = this.#hash.copy().digest('hex');
    return { bytes: this.size, sha256, beginnings: [...this.#beginnings], every: this.#every };
  }
}

function beginningOf(hash: Hash): string {
  return hash.copy().digest('hex').slice(0, 16);
}

/**
 * Compares a file with what was seen last. Line ends and a byte order mark may have changed on the way through editors
 * and checkouts, and a part may end in blanks.
 */
export function compareWithSeen(found: Uint8Array, seen: SeenLock): SeenAs {
  const bytes = asWritten(found);
  const start = createHash('sha256').update(bytes.subarray(0, seen.bytes));
  if (bytes.length >= seen.bytes && start.copy().digest('hex') === seen.sha256) return 'grown';
  // An editor may take the last line end away.
  if (bytes.length === seen.bytes - 1 && start.update('\n').digest('hex') === seen.sha256) return 'grown';
  let last = bytes.length;
  while (last > 0 && blanks.includes(bytes[last - 1] ?? lineFeed)) last -= 1;
  const end = bytes[last] === lineFeed ? last + 1 : last;
  if (end >= seen.bytes) return 'other';
  const hash = createHash('sha256');
  let at = 0;
  for (const [next, digest] of seen.beginnings) {
    if (next > end) break;
    hash.update(bytes.subarray(at, next));
    at = next;
    if (beginningOf(hash) !== digest) return 'other';
  }
  // Lines that were not seen at this place are somebody's, unless the last one is cut, and an editor has ended it.
  const rest = bytes.subarray(at, last);
  const own = countLineEnds(rest) + (end > last && isWhole(rest) ? 1 : 0);
  return own < seen.every ? 'cut' : 'other';
}

/** Whether the last of these lines is all there. */
function isWhole(lines: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(lines.subarray(lines.lastIndexOf(lineFeed) + 1)).toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Zero bytes, and what an editor may leave at the end. */
const blanks = [0, 0x20, 0x09, lineFeed];

function asWritten(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = text.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0;
  if (!text.includes('\r\n')) return text.subarray(mark);
  return Buffer.from(text.toString('latin1', mark).replaceAll('\r\n', '\n'), 'latin1');
}

function countLineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) count += 1;
  return count;
}

/** Reads what was seen of a lock. Undefined when nothing was seen, or nothing that was kept here. */
export function readSeenLock(lockPath: string): Promise<SeenLock | undefined> {
  return orForgotten(async () => {
    const { state, name } = placeOf(lockPath);
    const bytes = await readSealedFile(state, name, mostBytes);
    return bytes === undefined ? undefined : readSeen(JSON.parse(bytes.toString('utf8')) as Json);
  });
}

/** Keeps what was seen of a lock. If it cannot be kept, a part of it will not be recognized. */
export async function keepSeenLock(lockPath: string, seen: SeenLock): Promise<void> {
  if ((await readSeenLock(lockPath))?.sha256 === seen.sha256) return;
  const { state, name } = placeOf(lockPath);
  await orForgotten(() => writeSealedFile(state, name, JSON.stringify(seen)));
}

/** Path of the note, for messages. */
export function seenLockPath(lockPath: string): string {
  const { state, name } = placeOf(lockPath);
  return join(state, name);
}

function placeOf(lockPath: string): { state: string; name: string } {
  return { state: join(dirname(lockPath), '.mediabatch'), name: `${basename(lockPath)}.written` };
}

function readSeen(kept: Json): SeenLock | undefined {
  if (!isMap(kept)) return undefined;
  const { bytes, sha256, beginnings, every } = kept;
  if (typeof bytes !== 'number' || typeof sha256 !== 'string' || typeof every !== 'number') return undefined;
  return Array.isArray(beginnings) ? ({ bytes, sha256, beginnings, every } as unknown as SeenLock) : undefined;
}

// A lock that began with jobs that a person brought back – adopted, imported – says nothing of the others that the one
// before it had. Until somebody says that all the rest is new, they are still looked for.

/** Notes that the lock began so. Where it cannot be kept, the rest is taken for new. */
export async function noteBegunLock(lockPath: string): Promise<void> {
  const { state, name } = placeOfBegun(lockPath);
  await orForgotten(() => writeSealedFile(state, name, 'begun'));
}

export async function hasBegunSo(lockPath: string): Promise<boolean> {
  const { state, name } = placeOfBegun(lockPath);
  return (await orForgotten(() => readSealedFile(state, name, 100))) !== undefined;
}

export async function forgetBegunLock(lockPath: string): Promise<void> {
  const { state, name } = placeOfBegun(lockPath);
  await orForgotten(() => rm(join(state, name), { force: true }));
}

function placeOfBegun(lockPath: string): { state: string; name: string } {
  return { state: join(dirname(lockPath), '.mediabatch'), name: `${basename(lockPath)}.begun` };
}
