import type { Stats } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import { lstatOrAbsent } from '../fs/plain-file.ts';
import { orForgotten } from '../state/kept-json.ts';
import { readSealedFile, writeSealedFile } from '../state/sealed-file.ts';

/** What `lstat` says of a file and changes with its content (times in ms since 1970, with fractions), and its digest, hex. */
type Seen = readonly [bytes: number, mtimeMs: number, ctimeMs: number, ino: number, sha256: string];

const mostBytes = 64 * 1024 ** 2;
/** No file system counts time in coarser steps: a change within one step of an earlier one would not show. */
const coarsestStepMs = 2000;
/** So far the clock of the file system may be off ours. */
const clockDifferenceMs = 500;

/**
 * The digests of output files as they were when they were last read, with what the system said of the files then. A file of
 * which it still says the same is not read again: gigabytes of videos need not be hashed for every plan. The time of the
 * last change (ctime) is set by the system alone, so that neither an editor nor a copied date hides a change; and what was
 * changed just before it was read is read again. A cache: lost, it is made anew, and it never leaves the machine.
 */
export class StatCache {
  readonly now: () => number;
  /** What a process made of exactly these files, in its own words. */
  readonly finding: Json | undefined;
  readonly #state: string;
  readonly #name: string;
  readonly #before: ReadonlyMap<string, Seen>;
  /** What is kept of them, only of files that somebody asked about, and what is new. */
  readonly #after = new Map<string, Seen>();

  private constructor(state: string, name: string, options: Kept & { now: () => number }) {
    this.#state = state;
    this.#name = name;
    this.#before = options.files;
    this.finding = options.finding;
    this.now = options.now;
  }

  /** `state`: the folder of what is never committed. `lock`: the path of the lock whose outputs these are. Writes nothing. */
  static async open(state: string, lock: string, now: () => number = Date.now): Promise<StatCache> {
    const name = `${basename(lock)}.seen`;
    return new StatCache(state, name, { ...(await readKept(state, name)), now });
  }

  /** SHA-256 (hex) of the file at `path`, if it is as it was when that was made. */
  recall(path: string, stats: Stats): string | undefined {
    const seen = this.#after.get(path) ?? this.#before.get(path);
    if (seen === undefined || !isSame(seen, stats)) return undefined;
    this.#after.set(path, seen);
    return seen[4];
  }

  /** `stats`: from before it was read. `readAt`: when reading began, by `now`. */
  note(path: string, stats: Stats, { sha256, readAt }: { sha256: string; readAt: number }): void {
    if (stats.ctimeMs + coarsestStepMs + clockDifferenceMs < readAt) this.noteOwn(path, stats, sha256);
    else this.#after.delete(path);
  }

  /** A file that this process has just made, under a name that nobody knew before. */
  noteOwn(path: string, stats: Stats, sha256: string): void {
    // Where nothing keeps the time of the last change, or somebody has set the date of the content, dates prove little.
    if (stats.ctimeMs < stats.mtimeMs) return;
    this.#after.set(path, [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino, sha256]);
  }

  /** The files as they were when they were last seen. */
  get files(): Pick<Output, 'path' | 'bytes' | 'sha256'>[] {
    return [...this.#before].map(([path, [bytes, , , , sha256]]) => ({ path, bytes, sha256 }));
  }

  /** Whether so many files are known as they are now. */
  knowsAll(count: number): boolean {
    return this.#after.size === count;
  }

  /**
   * Keeps what was asked about and noted, for later processes, with what this one makes of it. What cannot be kept is found
   * out again.
   */
  async keep(finding?: Json): Promise<void> {
    const isAsBefore =
      this.#after.size === this.#before.size &&
      [...this.#after].every(([path, seen]) => this.#before.get(path) === seen);
    if (isAsBefore && finding === undefined) return;
    const files = Object.fromEntries(this.#after);
    const text = JSON.stringify({ version: 1, ...(finding !== undefined && { finding }), files });
    await orForgotten(async () => {
      const startedAt = this.now();
      if (!(await writeSealedFile(this.#state, this.#name, `${text}\n`))) return;
      // A share whose clock is not ours dates changes as it likes.
      const path = join(this.#state, this.#name);
      const writtenAt = lstatOrAbsent(path)?.mtimeMs ?? 0;
      const isOurClock = writtenAt > startedAt - clockDifferenceMs && writtenAt < this.now() + clockDifferenceMs;
      if (!isOurClock) await unlink(path);
    });
  }
}

function isSame([bytes, mtimeMs, ctimeMs, ino]: Seen, stats: Stats): boolean {
  return stats.size === bytes && stats.mtimeMs === mtimeMs && stats.ctimeMs === ctimeMs && stats.ino === ino;
}

interface Kept {
  files: ReadonlyMap<string, Seen>;
  finding: Json | undefined;
}

/** Empty when there is nothing that can be used. */
async function readKept(state: string, name: string): Promise<Kept> {
  const kept = await orForgotten(async () => {
    const bytes = await readSealedFile(state, name, mostBytes);
    return bytes === undefined ? undefined : check(JSON.parse(bytes.toString('utf8')) as Json);
  });
  return kept ?? { files: new Map(), finding: undefined };
}

/** All of it, or nothing: what somebody else wrote is not gone by. */
function check(json: Json | undefined): Kept | undefined {
  if (!isMap(json) || json.version !== 1 || !isMap(json.files)) return undefined;
  const entries = Object.entries(json.files);
  return entries.every(isSeen) ? { files: new Map(entries), finding: json.finding } : undefined;
}

function isSeen(entry: [path: string, seen: Json]): entry is [string, Json & Seen] {
  const [path, seen] = entry;
  if (!isOutputPath(path) || !Array.isArray(seen) || seen.length !== 5) return false;
  const sha256 = seen[4];
  const isDigest = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);
  return isDigest && seen.slice(0, 4).every((number) => typeof number === 'number');
}
