import type { Stats } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Json } from '../../ground/json.ts';
import { defined } from '../../ground/values.ts';
import type { Output } from '../../lock/record.ts';
import { lstatOrAbsent } from '../fs/plain-file.ts';
import { readCache, writeCache } from '../state/caches.ts';

/** Stats of a file that change with its content, and its SHA-256 in hex. Times are in ms since 1970. */
type Seen = readonly [bytes: number, mtimeMs: number, ctimeMs: number, ino: number, sha256: string];

/** Coarsest resolution of file times, in ms. Two changes of a file within this time may have the same file time. */
const coarsestStepMs = 2000;
/** Largest expected difference between the clocks of the file system and of this machine, in ms. */
const clockDifferenceMs = 500;

/**
 * Cache of output digests with the files' stats. A file with unchanged stats is not hashed again, unless it had changed
 * just before it was hashed. The stats include ctime, which only the system sets, so a program cannot hide a change.
 */
export class StatCache {
  readonly now: () => number;
  /** Result that the caller computed from the same files in an earlier process. */
  readonly finding: Json | undefined;
  readonly #state: string;
  readonly #name: string;
  readonly #before: ReadonlyMap<string, Seen>;
  readonly #after = new Map<string, Seen>();

  private constructor(
    state: string,
    name: string,
    { files, finding, now }: { files: ReadonlyMap<string, Seen>; finding: Json | undefined; now: () => number },
  ) {
    this.#state = state;
    this.#name = name;
    this.#before = files;
    this.finding = finding;
    this.now = now;
  }

  static async open(state: string, lock: string, now: () => number = Date.now): Promise<StatCache> {
    const name = `${basename(lock)}.seen`;
    const { files, finding } = await readCache(state, name, 1);
    const seen = new Map(Object.entries((files ?? {}) as { [path: string]: Json & Seen }));
    return new StatCache(state, name, { files: seen, finding, now });
  }

  recall(path: string, stats: Stats): string | undefined {
    const seen = this.#after.get(path) ?? this.#before.get(path);
    if (seen === undefined || !isSame(seen, stats)) return undefined;
    this.#after.set(path, seen);
    return seen[4];
  }

  /** Records a file's digest. `stats`: stats read before the content. `readAt`: time by `now` when reading began. */
  note(path: string, stats: Stats, { sha256, readAt }: { sha256: string; readAt: number }): void {
    if (stats.ctimeMs + coarsestStepMs + clockDifferenceMs < readAt) this.noteOwn(path, stats, sha256);
    else this.#after.delete(path);
  }

  /** Records a file that this process has just created under a new name. */
  noteOwn(path: string, stats: Stats, sha256: string): void {
    // If ctime is missing or earlier than mtime, the file times are not reliable.
    if (stats.ctimeMs < stats.mtimeMs) return;
    this.#after.set(path, [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino, sha256]);
  }

  get files(): Pick<Output, 'path' | 'bytes' | 'sha256'>[] {
    return [...this.#before].map(([path, [bytes, , , , sha256]]) => ({ path, bytes, sha256 }));
  }

  knowsAll(count: number): boolean {
    return this.#after.size === count;
  }

  async keep(finding?: Json): Promise<void> {
    const isAsBefore =
      this.#after.size === this.#before.size &&
      [...this.#after].every(([path, seen]) => this.#before.get(path) === seen);
    if (isAsBefore && finding === undefined) return;
    const files = Object.fromEntries(this.#after);
    const startedAt = this.now();
    if (!(await writeCache(this.#state, this.#name, { version: 1, ...defined({ finding }), files }))) return;
    // If the clock of a network share differs, its file times cannot be compared with the local time.
    const path = join(this.#state, this.#name);
    const writtenAt = lstatOrAbsent(path)?.mtimeMs ?? 0;
    const isOurClock = writtenAt > startedAt - clockDifferenceMs && writtenAt < this.now() + clockDifferenceMs;
    if (!isOurClock) await unlink(path).catch(() => undefined);
  }
}

function isSame([bytes, mtimeMs, ctimeMs, ino]: Seen, stats: Stats): boolean {
  return stats.size === bytes && stats.mtimeMs === mtimeMs && stats.ctimeMs === ctimeMs && stats.ino === ino;
}
